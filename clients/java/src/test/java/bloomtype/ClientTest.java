package bloomtype;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.LongFunction;

/**
 * The client against the vectors in the file that is its argument; with
 * BLOOMTYPE_SERVER, the name of a folder that test/tap/clients.pl makes,
 * also against a server. Prints the Test Anything Protocol.
 */
public final class ClientTest {
    private static Map<?, ?> vectors;
    private static int tests;
    private static int failures;
    private static final List<String> wrong = new ArrayList<>();

    private interface Test {
        void run() throws Exception;
    }

    private static void test(String name, Test test) {
        wrong.clear();
        try {
            test.run();
        } catch (Exception e) {
            wrong.add(e + " at " + e.getStackTrace()[0]);
        }
        tests++;
        failures += wrong.isEmpty() ? 0 : 1;
        System.out.println((wrong.isEmpty() ? "ok " : "not ok ") + tests + " - " + name);
        wrong.stream().limit(20).forEach(line -> System.out.println("#   " + line));
    }

    private static void check(boolean right, Object what) {
        if (!right) {
            wrong.add(what.toString());
        }
    }

    private static void fails(Class<?> expected, Test test, Object what) {
        try {
            test.run();
            wrong.add("no error: " + what);
        } catch (Exception e) {
            check(expected.isInstance(e), e + ": " + what);
        }
    }

    public static void main(String[] args) throws IOException {
        vectors = (Map<?, ?>) Json.parse(Files.readString(Path.of(args[0])));
        test("hashes", ClientTest::hashes);
        test("lengths", ClientTest::lengths);
        test("positions", ClientTest::positions);
        test("sizes", ClientTest::sizes);
        test("filters", ClientTest::filters);
        test("malformed bytes", ClientTest::malformed);
        test("key types", ClientTest::keyTypes);
        test("dates and times", ClientTest::times);
        test("union and intersection", ClientTest::unions);
        test("a builder goes on", ClientTest::builders);
        test("more keys than the capacity", ClientTest::full);
        if (System.getenv("BLOOMTYPE_SERVER") != null) {
            test("the server's verdicts", ClientTest::verdicts);
            test("the server's unions and intersections", ClientTest::combined);
            test("the server's bloom_is_overfull", ClientTest::fullByServer);
            test("the server's filters", ClientTest::urls);
        }
        System.out.println("1.." + tests);
        System.exit(failures > 0 ? 1 : 0);
    }

    // ----------------------------------------------------------------
    // Vectors
    // ----------------------------------------------------------------

    private static List<Map<?, ?>> list(Map<?, ?> of, String name) {
        List<Map<?, ?>> result = new ArrayList<>();
        ((List<?>) of.get(name)).forEach(item -> result.add((Map<?, ?>) item));
        return result;
    }

    private static String text(Map<?, ?> v, String name) {
        return (String) v.get(name);
    }

    private static long number(Map<?, ?> v, String name) {
        Object value = v.get(name);
        return value instanceof String s ? Long.parseLong(s) : ((Double) value).longValue();
    }

    private static long hash(Map<?, ?> v) {
        return Long.parseUnsignedLong(text(v, "hash"), 16);
    }

    private static byte[] bytes(Map<?, ?> v) {
        return HexFormat.of().parseHex(text(v, "bytes"));
    }

    private static KeyType keyType(Map<?, ?> v) {
        return new KeyType(number(v, "key_type"), text(v, "key_type_name"));
    }

    /** The key of a vector, as a Java object; null, if there is none for its type. */
    private static Object key(Map<?, ?> v) {
        String text = text(v, "key");
        boolean largest = text.equals("infinity");
        boolean smallest = text.equals("-infinity");
        switch (text(v, "type")) {
            case "int2", "int4", "int8":
                return Long.valueOf(text);
            case "text", "varchar", "name", "char(9)":
                return text;
            case "bytea":
                return HexFormat.of().parseHex(text.substring(2));
            case "bool":
                return text.equals("true");
            case "float4":
                return (double) Float.parseFloat(text.replace("infinity", "Infinity"));
            case "float8":
                return Double.valueOf(text.replace("infinity", "Infinity"));
            case "uuid":
                return UUID.fromString(text);
            case "date":
                return largest ? LocalDate.MAX : smallest ? LocalDate.MIN : LocalDate.parse(text);
            case "timestamp":
                return largest ? LocalDateTime.MAX : smallest ? LocalDateTime.MIN
                        : LocalDateTime.parse(text.replace(' ', 'T'));
            case "timestamptz":
                return largest ? OffsetDateTime.MAX : smallest ? OffsetDateTime.MIN
                        : OffsetDateTime.parse(text.replace(' ', 'T'));
            default:
                return null;
        }
    }

    private static boolean contains(BloomFilter f, Object key) {
        if (key instanceof Long k) {
            return f.contains(k);
        } else if (key instanceof String k) {
            return f.contains(k);
        } else if (key instanceof byte[] k) {
            return f.contains(k);
        } else if (key instanceof Boolean k) {
            return f.contains(k);
        } else if (key instanceof Double k) {
            return f.contains(k);
        } else if (key instanceof UUID k) {
            return f.contains(k);
        } else if (key instanceof LocalDate k) {
            return f.contains(k);
        } else if (key instanceof LocalDateTime k) {
            return f.contains(k);
        } else if (key instanceof Instant k) {
            return f.contains(k);
        }
        return f.contains((OffsetDateTime) key);
    }

    private static void add(BloomFilter.Builder b, Object key) {
        if (key instanceof Long k) {
            b.add(k);
        } else if (key instanceof String k) {
            b.add(k);
        } else if (key instanceof byte[] k) {
            b.add(k);
        } else if (key instanceof Boolean k) {
            b.add(k);
        } else if (key instanceof Double k) {
            b.add(k);
        } else if (key instanceof UUID k) {
            b.add(k);
        } else if (key instanceof LocalDate k) {
            b.add(k);
        } else if (key instanceof LocalDateTime k) {
            b.add(k);
        } else if (key instanceof Instant k) {
            b.add(k);
        } else {
            b.add((OffsetDateTime) key);
        }
    }

    private static void hashes() {
        Set<String> made = new TreeSet<>();
        for (Map<?, ?> v : list(vectors, "hashes")) {
            long seed = number(v, "seed");
            check(Xxh3.hash(bytes(v), seed) == hash(v), v);
            KeyType type = keyType(v);
            check(type.name().isEmpty() || KeyType.numberOf(type.name().getBytes()) == type.number(), v);

            // A filter in keys form shows the hash and the type of its key.
            Object key = key(v);
            if (key != null) {
                BloomFilter.Builder builder = BloomFilter.builder(1000, 0.01, seed, null);
                add(builder, key);
                BloomFilter filter = builder.build();
                byte[] written = filter.toBytes();
                check(Xxh3.longAt(written, written.length - 8) == hash(v), v);
                check(filter.info().keyType().get().equals(type), v);
                made.add(text(v, "type"));
            }
        }
        for (String name : ("int2 int4 int8 text varchar bytea bool float4 float8 uuid date timestamp "
                + "timestamptz").split(" ")) {
            check(made.contains(name), "no key of type " + name + " was tested");
        }
    }

    private static void lengths() {
        for (Map<?, ?> v : list(vectors, "lengths")) {
            String text = "bloom".repeat(700).substring(0, (int) number(v, "length"));
            check(Keys.hash(text, number(v, "seed")) == hash(v), v);
        }
    }

    private static void positions() {
        for (Map<?, ?> v : list(vectors, "positions")) {
            long a = hash(v);
            List<?> expected = (List<?>) v.get("positions");
            check(expected.size() == number(v, "hashes"), v);
            for (Object position : expected) {
                a = BloomFilter.next(a);
                check(BloomFilter.position(a, number(v, "bits")) == (Double) position, v);
            }
        }
    }

    private static void sizes() {
        for (Map<?, ?> v : list(vectors, "sizes")) {
            BloomFilter.Info info = BloomFilter
                    .builder(number(v, "capacity"), (Double) v.get("fp_prob")).build().info();
            check(info.bits() == number(v, "bits") && info.hashes() == number(v, "hashes"), v);
        }
        for (long capacity : new long[] {0, -1, 1L << 53, 429496730, Long.MAX_VALUE}) {
            fails(IllegalArgumentException.class, () -> BloomFilter.builder(capacity), capacity);
        }
        for (double rate : new double[] {1, 0, -1, 4e-14, Double.NaN}) {
            fails(IllegalArgumentException.class, () -> BloomFilter.builder(1, rate), rate);
        }
    }

    private static void filters() {
        int built = 0;
        for (Map<?, ?> v : list(vectors, "filters")) {
            BloomFilter filter = BloomFilter.fromBytes(bytes(v));
            BloomFilter.Info info = filter.info();
            check(Arrays.equals(filter.toBytes(), bytes(v)) && info.bytes() == bytes(v).length, v);
            check(BloomFilter.fromText(filter.toText()).equals(filter), v);
            check(info.bits() == number(v, "bits") && info.hashes() == number(v, "hashes")
                    && info.seed() == number(v, "seed") && info.capacity() == number(v, "capacity")
                    && info.fpProb() == (Double) v.get("fp_prob")
                    && info.form().equals(text(v, "form")), v);
            check(info.keyType().orElse(new KeyType(0, "")).equals(keyType(v)), v);

            // The vector's keys, made here, make the vector's filter.
            BloomFilter.Builder builder = null;
            if (v.get("sql") != null && info.bits() > 0) {
                byte[] header = Arrays.copyOf(bytes(v), 44);
                header[1] = 1; // keys form, of no keys and no type
                header[3] = 0;
                Xxh3.putInt(header, 4, 0);
                Xxh3.putLong(header, 36, 0);
                builder = BloomFilter.fromBytes(header).toBuilder();
            }
            for (Map<?, ?> k : list(v, "keys")) {
                Object key = key(k);
                if (key == null) {
                    builder = null;
                } else {
                    check(contains(filter, key), k);
                    if (builder != null) {
                        add(builder, key);
                    }
                }
            }
            if (builder != null) {
                built++;
                check(builder.build().equals(filter), v);
            }
            for (Map<?, ?> k : list(v, "others")) {
                Object key = key(k);
                check(key == null || contains(filter, key) == (Boolean) k.get("contains"), k);
            }
        }
        check(built >= 8, "only " + built + " filters were built");
    }

    private static void malformed() {
        List<Map<?, ?>> all = list(vectors, "malformed");
        all.addAll(list(vectors, "counting"));
        for (Map<?, ?> v : all) {
            fails(FilterFormatException.class, () -> BloomFilter.fromBytes(bytes(v)), v);
        }
        for (Map<?, ?> v : list(vectors, "malformed_text")) {
            fails(FilterFormatException.class, () -> BloomFilter.fromText(text(v, "text")), v);
        }
        for (Map<?, ?> v : list(vectors, "filters")) {
            byte[] good = bytes(v);
            for (int i = 0; i < good.length; i++) {
                byte[] part = Arrays.copyOf(good, i);
                fails(FilterFormatException.class, () -> BloomFilter.fromBytes(part), v);
                for (int bit = 0; bit < 8; bit++) {
                    byte[] other = good.clone();
                    other[i] ^= 1 << bit;
                    try {
                        check(Arrays.equals(BloomFilter.fromBytes(other).toBytes(), other), v);
                    } catch (FilterFormatException e) {
                        continue;
                    }
                }
            }
        }
    }

    // ----------------------------------------------------------------
    // Keys, union, intersection
    // ----------------------------------------------------------------

    private static BloomFilter filled(BloomFilter.Builder builder, int from, int to) {
        for (int i = from; i < to; i++) {
            builder.add(i);
        }
        return builder.build();
    }

    private static void keyTypes() {
        BloomFilter filter = filled(BloomFilter.builder(100), 0, 10);
        Object[] keys = {"5", new byte[] {5}, true, 5.0, new UUID(0, 5), LocalDate.EPOCH,
            LocalDate.EPOCH.atStartOfDay(), Instant.EPOCH, Instant.EPOCH.atOffset(ZoneOffset.UTC)};
        for (Object key : keys) {
            fails(KeyTypeException.class, () -> contains(filter, key), key);
            fails(KeyTypeException.class, () -> add(filter.toBuilder(), key), key);
            check(!contains(BloomFilter.builder(1).build(), key), key);
            check(!contains(BloomFilter.WITHOUT_SHAPE, key), key);
        }
        BloomFilter texts = BloomFilter.builder(100, 0.01, 0, KeyType.TEXT).build();
        check(texts.info().keyType().get().equals(KeyType.TEXT), texts);
        fails(KeyTypeException.class, () -> texts.contains(5), texts);
        fails(KeyTypeException.class, () -> filter.union(texts), texts);
        fails(KeyTypeException.class, () -> filter.intersect(texts), texts);
        fails(IllegalArgumentException.class, () -> filter.union(BloomFilter.builder(200).build()), "shape");
        fails(IllegalStateException.class, () -> BloomFilter.WITHOUT_SHAPE.toBuilder(), "shape");
        for (String half : new String[] {"\ud800", "a\udc00", "\ud800a", "\udc00\ud800"}) {
            fails(IllegalArgumentException.class, () -> texts.contains(half), "half a character");
        }
        check(!texts.contains("\ud83c\udf38"), "a character beyond the first 65536");
        Character boxed = 'k';
        BloomFilter letters = BloomFilter.builder(100).add('k').add(boxed).add('\u00e9').build();
        check(letters.equals(BloomFilter.builder(100).add("k").add("\u00e9").build()), "a char is a text");
        check(letters.contains(boxed) && letters.contains('\u00e9') && !letters.contains('l'), letters);
        fails(KeyTypeException.class, () -> filled(BloomFilter.builder(200), 0, 200).contains('k'), "k is not 107");
        fails(IllegalArgumentException.class, () -> letters.contains('\ud800'), "half a character");
    }

    private static void times() {
        LocalDate day = LocalDate.of(2026, 11, 20);
        LocalDateTime time = LocalDateTime.of(day, LocalTime.of(12, 34, 56, 789012000));
        check(Keys.hash(time, 0) == Keys.hash(time.toInstant(ZoneOffset.UTC), 0), time);
        check(Keys.hash(time.atOffset(ZoneOffset.ofHours(2)), 0)
                == Keys.hash(time.minusHours(2).toInstant(ZoneOffset.UTC), 0), time);
        fails(IllegalArgumentException.class, () -> Keys.hash(time.plusNanos(1), 0), time);
        fails(IllegalArgumentException.class, () -> Keys.hash(Instant.MAX, 0), "infinity");
        fails(IllegalArgumentException.class, () -> Keys.hash(LocalDate.MAX.minusDays(1), 0), "a date");
        fails(IllegalArgumentException.class, () -> Keys.hash(LocalDateTime.MAX.minusYears(1), 0), "a time");
        check(BloomFilter.builder(1000).add(5.0f).build().contains(5.0), "a float is a double");
        check(BloomFilter.builder(1000).add((short) 5).build().contains(5), "integers are one type");
    }

    private static void unions() {
        for (int capacity : new int[] {10, 1000, 5000}) {
            LongFunction<BloomFilter.Builder> empty = seed -> BloomFilter.builder(capacity, 0.001, seed, null);
            for (int n : new int[] {0, 1, 20, 200, 1500}) {
                BloomFilter a = filled(empty.apply(-3), 0, n);
                BloomFilter b = filled(empty.apply(-3), n / 2, 2 * n);
                BloomFilter both = filled(empty.apply(-3), 0, 2 * n);
                check(a.union(b).equals(both) && b.union(a).equals(both), capacity + ", " + n);
                check(a.union(BloomFilter.WITHOUT_SHAPE) == a, a);
                check(BloomFilter.WITHOUT_SHAPE.union(a) == a, a);
                BloomFilter common = a.intersect(b);
                check(common.equals(b.intersect(a)), common);
                check(common.equals(BloomFilter.fromBytes(common.toBytes())), common);
                for (int key = n / 2; key < n; key++) {
                    check(common.contains(key), key);
                }
            }
        }
        BloomFilter a = filled(BloomFilter.builder(11), 0, 1);
        BloomFilter b = filled(BloomFilter.builder(12, 0.009431), 0, 1);
        check(a.union(b).info().capacity() == 12 && a.union(b).info().fpProb() == 0.009431, b);
        BloomFilter many = filled(BloomFilter.builder(1000), 0, 1000);
        check(Math.abs(many.info().estimatedKeys() - 1000) < 50, many.info());
        check(Math.abs(many.info().fpProbNow() - 0.0094) < 0.002, many.info());
    }

    private static void builders() {
        BloomFilter.Builder builder = BloomFilter.builder(100);
        List<BloomFilter> before = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            before.add(builder.build());
            builder.add(i).add(i / 2);
        }
        for (int i = 0; i < 300; i++) {
            check(before.get(i).equals(filled(BloomFilter.builder(100), 0, i)), i);
            check(filled(before.get(i).toBuilder(), i, 300).equals(builder.build()), i);
        }
        byte[] bytes = builder.build().toBytes();
        bytes[bytes.length - 1] ^= -1;
        check(!Arrays.equals(bytes, builder.build().toBytes()), "a filter shares its bytes");
    }

    private static void full() {
        List<BloomFilter.Info> calls = new ArrayList<>();
        for (int[] c : new int[][] {{1000, 0, 0, 0}, {1000, 1000, 0, 0}, {2, 5, 0, 0}, {10, 1000, 1, 1}, {1000, 1100, 1, 1}}) {
            calls.clear();
            BloomFilter.Builder builder = BloomFilter.builder(c[0]).onOverfull(calls::add);
            BloomFilter filter = filled(builder, 0, c[1]);
            check(filter.isOverfull() == (c[2] == 1), Arrays.toString(c));
            builder.add(-1).build();
            check(calls.size() == c[3], Arrays.toString(c) + calls); // once
            check(calls.isEmpty() || calls.get(0).equals(filter.info()) && calls.get(0).fpProbNow() > 0.01, calls);
        }
        check(filled(BloomFilter.builder(10), 0, 1000).isOverfull(), "nobody asked");
        BloomFilter texts = BloomFilter.builder(10).add("a").build();
        fails(IllegalArgumentException.class, () -> texts.contains("a\0b"), "a character 0");
        fails(IllegalArgumentException.class, () -> texts.toBuilder().add("a\0b"), "a character 0");
    }

    // ----------------------------------------------------------------
    // Against a server
    // ----------------------------------------------------------------

    private static void verdicts() throws IOException {
        List<String> lines = Files.readAllLines(Path.of(System.getenv("BLOOMTYPE_SERVER"), "verdicts"));
        for (String line : lines) {
            String[] verdict = line.split(" ", 2);
            byte[] bytes = Files.readAllBytes(Path.of(verdict[1]));
            boolean accepted;
            try {
                accepted = true;
                check(Arrays.equals(BloomFilter.fromBytes(bytes).toBytes(), bytes), line);
            } catch (FilterFormatException e) {
                accepted = false;
            }
            check(accepted == verdict[0].equals("accepted"), line);
        }
        check(!lines.isEmpty(), "no verdicts");
    }

    /** Lines of two filters, their union and their intersection. */
    private static void combined() throws IOException {
        List<String> lines = Files.readAllLines(Path.of(System.getenv("BLOOMTYPE_SERVER"), "combined"));
        for (String line : lines) {
            BloomFilter[] f = Arrays.stream(line.split(" "))
                    .map(hex -> BloomFilter.fromBytes(HexFormat.of().parseHex(hex)))
                    .toArray(BloomFilter[]::new);
            check(f[0].union(f[1]).equals(f[2]), "union: " + line);
            check(f[0].intersect(f[1]).equals(f[3]), "intersection: " + line);
        }
        check(!lines.isEmpty(), "no pairs");
    }

    /** Lines of a filter, and whether it is full. */
    private static void fullByServer() throws IOException {
        List<String> lines = Files.readAllLines(Path.of(System.getenv("BLOOMTYPE_SERVER"), "full"));
        for (String line : lines) {
            String[] fields = line.split(" ");
            check(BloomFilter.fromBytes(HexFormat.of().parseHex(fields[0])).isOverfull() == fields[1].equals("t"), line);
        }
        check(!lines.isEmpty(), "no filters");
    }

    /** Each of the server's filters has the URLs, and is what is built of them here. */
    private static void urls() throws IOException {
        Path folder = Path.of(System.getenv("BLOOMTYPE_SERVER"));
        List<String> urls = Files.readAllLines(folder.resolve("urls"));
        int built = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.bloom")) {
            for (Path file : files) {
                BloomFilter filter = BloomFilter.fromBytes(Files.readAllBytes(file));
                BloomFilter.Info info = filter.info();
                BloomFilter.Builder builder =
                        BloomFilter.builder(info.capacity(), info.fpProb(), info.seed(), null);
                for (String url : urls) {
                    check(filter.contains(url), url);
                    builder.add(url);
                }
                check(builder.build().equals(filter), file + " is built differently");
                built++;
            }
        }
        check(built > 0, "no filters");
    }
}
