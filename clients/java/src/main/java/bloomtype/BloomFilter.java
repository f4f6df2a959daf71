package bloomtype;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A value of PostgreSQL's type {@code bloom}, of the extension bloomtype, which
 * can be tested, built and combined without a server.
 *
 * It answers "certainly not" or "probably": {@code contains} is never false for
 * a key that was added. Equal sets of keys make equal bytes, here and in the
 * server. A filter never changes, so any number of threads can use it.
 */
public final class BloomFilter {
    private static final int VERSION = 1;
    private static final int KEYS_FORM = 1;
    private static final int BITS_FORM = 2;
    private static final int COUNTING = 16; // in the forms of a counting_bloom
    private static final int HEADER = 44;
    private static final int MAX_WORDS = 1 << 26;
    private static final int MAX_HASHES = 64;
    private static final int MAX_BUILT_IN = 10000; // built-in types have smaller OIDs
    private static final int MAX_NAME = 1024;
    private static final double DEFAULT_FP_PROB = 0.01;

    private static final long MULTIPLIER = 0xd1342543de82ef95L;
    private static final long INCREMENT = 0x2545f4914f6cdd1dL;

    /** The filter without a shape, which {@code bloom_agg} makes of no rows. */
    public static final BloomFilter WITHOUT_SHAPE =
            new BloomFilter(new Shape(0, 0, 0, 0, 0), null, new long[0], null, 0);

    private final Shape shape;
    private final KeyType keyType; // null: no key yet
    private final long[] keys; // keys form: their hashes, ascending as unsigned numbers
    private final byte[] bits; // bits form
    private final long count; // of keys, or of bits set

    /** The size is in words of 64 bits. */
    private record Shape(int words, int hashes, long seed, long capacity, double fpProb) {
        boolean hasSameBitsAs(Shape other) {
            return words == other.words && hashes == other.hashes && seed == other.seed;
        }
    }

    /** What a filter tells about itself, as {@code bloom_info} does. */
    public record Info(Optional<KeyType> keyType, long bits, int hashes, long seed, long capacity,
            double fpProb, double estimatedKeys, double fpProbNow, String form, int bytes) {
    }

    private BloomFilter(Shape shape, KeyType keyType, long[] keys, byte[] bits, long count) {
        this.shape = shape;
        this.keyType = keyType;
        this.keys = keys;
        this.bits = bits;
        this.count = count;
    }

    // ----------------------------------------------------------------
    // Reading and writing
    // ----------------------------------------------------------------

    /**
     * Reads the bytes of {@code filter::bytea}.
     *
     * @throws FilterFormatException for what the server refuses, too
     */
    public static BloomFilter fromBytes(byte[] bytes) {
        check(bytes.length >= HEADER, "there are fewer bytes than a header has");
        int form = bytes[1];
        int nameSize = (bytes[3] & 255) * 8;
        long number = Xxh3.intAt(bytes, 4);
        long words = Xxh3.intAt(bytes, 8);
        int hashes = bytes[2] & 255;
        long seed = Xxh3.longAt(bytes, 12);
        long capacity = Xxh3.longAt(bytes, 20);
        double fpProb = Double.longBitsToDouble(Xxh3.longAt(bytes, 28));
        long count = Xxh3.longAt(bytes, 36);

        check(bytes[0] == VERSION, "the version is unknown");
        check(form != (COUNTING | KEYS_FORM) && form != (COUNTING | BITS_FORM),
                "it is a counting_bloom");
        check(form == KEYS_FORM || form == BITS_FORM, "the representation is unknown");
        check(number < MAX_BUILT_IN || number >= KeyType.NAMED,
                "the key type is not a built-in type");
        check(number >= KeyType.NAMED == nameSize > 0 && nameSize <= MAX_NAME,
                "the name of the key type has a wrong size");
        if (words == 0) {
            check(hashes == 0 && seed == 0 && capacity == 0
                    && Double.doubleToRawLongBits(fpProb) == 0 && number == 0
                    && count == 0 && form == KEYS_FORM, "a filter without a shape is not all zero");
        } else {
            check(words <= MAX_WORDS, "the number of bits is out of range");
            check(hashes >= 1 && hashes <= MAX_HASHES, "the number of hashes is out of range");
            check(capacity >= 1, "the capacity is out of range");
            check(fpProb > 0 && fpProb < 1, "the fp_prob is out of range");
            check(count == 0 || number != 0, "there are keys, but no key type");
            check(form != KEYS_FORM || count >= 0 && count < words,
                    "there are too many keys for the keys form");
            check(form != BITS_FORM || count != 0, "no bit is set in the bits form");
        }
        long size = 8 * (form == KEYS_FORM ? count : words);
        check(bytes.length - HEADER == nameSize + size,
                "the number of bytes does not match the header");

        KeyType keyType = number == 0 ? null : new KeyType(number,
                nameSize == 0 ? "" : readName(Arrays.copyOfRange(bytes, HEADER, HEADER + nameSize), number));
        Shape shape = new Shape((int) words, hashes, seed, capacity, fpProb);
        if (form == BITS_FORM) {
            byte[] bits = Arrays.copyOfRange(bytes, HEADER + nameSize, bytes.length);
            check(countBits(bits) == count, "the number of bits set does not match");
            return new BloomFilter(shape, keyType, null, bits, count);
        }
        long[] keys = new long[(int) count];
        long previous = 0;
        for (int i = 0; i < keys.length; i++) {
            keys[i] = Xxh3.longAt(bytes, HEADER + nameSize + 8 * i);
            check(Long.compareUnsigned(keys[i], previous) > 0, "the keys are not ascending");
            previous = keys[i];
        }
        return new BloomFilter(shape, keyType, keys, null, count);
    }

    private static void check(boolean right, String wrong) {
        if (!right) {
            throw new FilterFormatException(wrong);
        }
    }

    private static String readName(byte[] padded, long number) {
        int size = padded.length;
        while (size > 0 && padded[size - 1] == 0) {
            size--;
        }
        check(padded.length - size < 8, "the name of the key type has a wrong size");
        for (int i = 0; i < size; i++) {
            check(padded[i] < 0 || padded[i] >= ' ' && padded[i] != 0x7f,
                    "the name of the key type has a control character");
        }
        check(KeyType.numberOf(Arrays.copyOf(padded, size)) == number,
                "the number of the key type does not match its name");
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(padded, 0, size)).toString();
        } catch (CharacterCodingException e) {
            throw new FilterFormatException("the name of the key type is not UTF-8");
        }
    }

    /** Reads the text form, base64. */
    public static BloomFilter fromText(String text) {
        String compact = text.replaceAll("[ \t\n\r]+", "");
        try {
            byte[] bytes = Base64.getDecoder().decode(compact);
            // one text stands for each sequence of bytes
            if (Base64.getEncoder().encodeToString(bytes).equals(compact)) {
                return fromBytes(bytes);
            }
        } catch (FilterFormatException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            // as below
        }
        throw new FilterFormatException("it is not base64");
    }

    private byte[] nameBytes() {
        return keyType == null ? new byte[0] : keyType.name().getBytes(StandardCharsets.UTF_8);
    }

    private int size() {
        return HEADER + (nameBytes().length + 7) / 8 * 8 + (bits == null ? 8 * keys.length : bits.length);
    }

    /** The bytes that the server reads as {@code ?::bytea::bloom}. */
    public byte[] toBytes() {
        byte[] name = nameBytes();
        int nameSize = (name.length + 7) / 8 * 8;
        byte[] bytes = new byte[size()];
        bytes[0] = VERSION;
        bytes[1] = (byte) (bits == null ? KEYS_FORM : BITS_FORM);
        bytes[2] = (byte) shape.hashes;
        bytes[3] = (byte) (nameSize / 8);
        Xxh3.putInt(bytes, 4, keyType == null ? 0 : (int) keyType.number());
        Xxh3.putInt(bytes, 8, shape.words);
        Xxh3.putLong(bytes, 12, shape.seed);
        Xxh3.putLong(bytes, 20, shape.capacity);
        Xxh3.putLong(bytes, 28, Double.doubleToRawLongBits(shape.fpProb));
        Xxh3.putLong(bytes, 36, count);
        System.arraycopy(name, 0, bytes, HEADER, name.length);
        if (bits != null) {
            System.arraycopy(bits, 0, bytes, HEADER + nameSize, bits.length);
        } else {
            for (int i = 0; i < keys.length; i++) {
                Xxh3.putLong(bytes, HEADER + nameSize + 8 * i, keys[i]);
            }
        }
        return bytes;
    }

    /** The text form, base64. */
    public String toText() {
        return Base64.getEncoder().encodeToString(toBytes());
    }

    // ----------------------------------------------------------------
    // Description
    // ----------------------------------------------------------------

    /** About how many distinct keys there are; if all bits are set, what all but one would say. */
    private double estimate() {
        double m = shape.words * 64.0;
        return bits == null ? count : -m / shape.hashes * Math.log1p(-Math.min(count, m - 1) / m);
    }

    public Info info() {
        double m = shape.words * 64.0;
        double rate = bits == null ? Math.scalb((double) count, -64) : Math.pow(count / m, shape.hashes);
        return new Info(Optional.ofNullable(keyType), shape.words * 64L, shape.hashes, shape.seed,
                shape.capacity, shape.fpProb, estimate(), rate, bits == null ? "keys" : "bits", size());
    }

    /**
     * Is {@code info().fpProbNow()} more than requested, and the estimated number of keys
     * above the capacity by more than chance? As {@code bloom_is_overfull}.
     */
    public boolean isOverfull() {
        double m = shape.words * 64.0;
        double c = shape.hashes * shape.capacity / m;
        double deviation = Math.sqrt(m * (Math.expm1(c) - c)) / shape.hashes;
        return bits != null && info().fpProbNow() > shape.fpProb && estimate() > shape.capacity + 4 * deviation;
    }

    /** Do the filters have the same bytes? */
    @Override
    public boolean equals(Object other) {
        return other instanceof BloomFilter filter && Arrays.equals(toBytes(), filter.toBytes());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(toBytes());
    }

    /** A line for people. The text form is that of {@link #toText}. */
    @Override
    public String toString() {
        if (shape.words == 0) {
            return "bloom filter without a shape";
        }
        return "bloom filter of about " + Math.round(info().estimatedKeys()) + " keys of type "
                + (keyType == null ? "unknown" : keyType) + ", sized for " + shape.capacity + " at "
                + shape.fpProb;
    }

    // ----------------------------------------------------------------
    // Keys
    // ----------------------------------------------------------------

    /**
     * Does the filter possibly contain the key? False is certain.
     *
     * This one is a {@code smallint}, {@code integer} or {@code bigint}.
     *
     * @throws KeyTypeException if the filter holds keys of another type
     */
    public boolean contains(long key) {
        return holds(KeyType.BIGINT) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code text}, {@code varchar}, {@code name}, or {@code char(n)} without its trailing blanks. */
    public boolean contains(String key) {
        return holds(KeyType.TEXT) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code text} of one character, and not for its number. */
    public boolean contains(char key) {
        return contains(String.valueOf(key));
    }

    /** The same for a {@code bytea}. */
    public boolean contains(byte[] key) {
        return holds(KeyType.BYTEA) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code uuid}. */
    public boolean contains(UUID key) {
        return holds(KeyType.UUID) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code real} or {@code double precision}. */
    public boolean contains(double key) {
        return holds(KeyType.FLOAT) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code boolean}. */
    public boolean contains(boolean key) {
        return holds(KeyType.BOOLEAN) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code date}; its MIN and MAX are -infinity and infinity, as in JDBC. */
    public boolean contains(LocalDate key) {
        return holds(KeyType.DATE) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code timestamp}, in whole microseconds; its MIN and MAX are -infinity and infinity. */
    public boolean contains(LocalDateTime key) {
        return holds(KeyType.TIMESTAMP) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code timestamptz}, in whole microseconds; its MIN and MAX are -infinity and infinity. */
    public boolean contains(OffsetDateTime key) {
        return holds(KeyType.TIMESTAMPTZ) && test(Keys.hash(key, shape.seed()));
    }

    /** The same for a {@code timestamptz}, in whole microseconds. */
    public boolean contains(Instant key) {
        return holds(KeyType.TIMESTAMPTZ) && test(Keys.hash(key, shape.seed()));
    }

    /** False, if there is no key yet. */
    private boolean holds(KeyType given) {
        if (keyType != null && keyType.number() != given.number()) {
            throw new KeyTypeException(keyType, given);
        }
        return keyType != null;
    }

    private boolean test(long hash) {
        return bits == null ? search(keys, hash) : testBits(bits, shape.hashes, hash);
    }

    private static boolean search(long[] keys, long hash) {
        int low = 0;
        int high = keys.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(keys[middle], hash) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < keys.length && keys[low] == hash;
    }

    /** The position of a number of the sequence in m bits: the high word of a * m. */
    static long position(long a, long m) {
        return Math.multiplyHigh(a, m) + (a >> 63 & m);
    }

    /** The next number of the sequence that a hash starts. */
    static long next(long a) {
        return a * MULTIPLIER + INCREMENT;
    }

    private static int bit(byte[] bits, long a, long m) {
        long position = position(a, m);
        return bits[(int) (position >>> 3)] >> (position & 7);
    }

    /**
     * Four bits are looked at before the answer: to decide after each would let
     * every cache miss wait for the one before.
     */
    private static boolean testBits(byte[] bits, int hashes, long hash) {
        long m = bits.length * 8L;
        long a = hash;
        for (; hashes >= 4; hashes -= 4) {
            long a1 = next(a);
            long a2 = next(a1);
            long a3 = next(a2);
            a = next(a3);
            if ((bit(bits, a1, m) & bit(bits, a2, m) & bit(bits, a3, m) & bit(bits, a, m) & 1) == 0) {
                return false;
            }
        }
        for (; hashes > 0; hashes--) {
            a = next(a);
            if ((bit(bits, a, m) & 1) == 0) {
                return false;
            }
        }
        return true;
    }

    private static void setBits(byte[] bits, int hashes, long hash) {
        long m = bits.length * 8L;
        for (long a = hash; hashes > 0; hashes--) {
            a = next(a);
            long position = position(a, m);
            bits[(int) (position >>> 3)] |= 1 << (position & 7);
        }
    }

    private static long countBits(byte[] bits) {
        long count = 0;
        for (int i = 0; i < bits.length; i += 8) {
            count += Long.bitCount(Xxh3.longAt(bits, i));
        }
        return count;
    }

    // ----------------------------------------------------------------
    // Union and intersection
    // ----------------------------------------------------------------

    /**
     * The filter of the keys of both.
     *
     * @throws IllegalArgumentException if they differ in bits, hashes or seed
     * @throws KeyTypeException if they hold keys of different types
     */
    public BloomFilter union(BloomFilter other) {
        if (shape.words == 0 || other.shape.words == 0) {
            return shape.words == 0 ? other : this;
        }
        Shape both = combine(other);
        KeyType type = keyType == null ? other.keyType : keyType;
        if (bits == null && other.bits == null) {
            long[] all = Arrays.copyOf(keys, keys.length + other.keys.length);
            System.arraycopy(other.keys, 0, all, keys.length, other.keys.length);
            return ofKeys(both, type, sortDistinct(all, all.length));
        }
        byte[] set = (bits == null ? other : this).bits.clone();
        BloomFilter with = bits == null ? this : other;
        if (with.bits == null) {
            for (long hash : with.keys) {
                setBits(set, shape.hashes, hash);
            }
        } else {
            for (int i = 0; i < set.length; i++) {
                set[i] |= with.bits[i];
            }
        }
        return new BloomFilter(both, type, null, set, countBits(set));
    }

    /**
     * A filter that has the keys that both have, and possibly others. The
     * exceptions are those of {@link #union}.
     */
    public BloomFilter intersect(BloomFilter other) {
        if (shape.words == 0 || other.shape.words == 0) {
            return WITHOUT_SHAPE;
        }
        Shape both = combine(other);
        // without a key type, one of them holds nothing
        KeyType type = other.keyType == null ? null : keyType;
        if (bits != null && other.bits != null) {
            byte[] common = bits.clone();
            for (int i = 0; i < common.length; i++) {
                common[i] &= other.bits[i];
            }
            long n = countBits(common);
            return n == 0 ? ofKeys(both, null, new long[0]) : new BloomFilter(both, type, null, common, n);
        }
        BloomFilter listed = bits == null ? this : other;
        BloomFilter tested = bits == null ? other : this;
        return ofKeys(both, type, Arrays.stream(listed.keys).filter(tested::test).toArray());
    }

    /** The larger capacity and its rate; of equal capacities, the larger rate. */
    private Shape combine(BloomFilter other) {
        Shape b = other.shape;
        if (!shape.hasSameBitsAs(b)) {
            throw new IllegalArgumentException("the filters differ in bits, hashes or seed: "
                    + shape.words * 64L + ", " + shape.hashes + " and " + shape.seed + "; "
                    + b.words * 64L + ", " + b.hashes + " and " + b.seed);
        }
        if (keyType != null && other.keyType != null && !keyType.equals(other.keyType)) {
            throw new KeyTypeException(keyType, other.keyType);
        }
        return b.capacity > shape.capacity || b.capacity == shape.capacity && b.fpProb > shape.fpProb
                ? b : shape;
    }

    /** Distinct, ascending hashes, in the form that their number asks for. */
    private static BloomFilter ofKeys(Shape shape, KeyType type, long[] keys) {
        if (keys.length < shape.words) {
            return new BloomFilter(shape, type, keys, null, keys.length);
        }
        byte[] bits = new byte[shape.words * 8];
        for (long hash : keys) {
            setBits(bits, shape.hashes, hash);
        }
        return new BloomFilter(shape, type, null, bits, countBits(bits));
    }

    /** The first n of the hashes, each once, ascending as unsigned numbers. */
    private static long[] sortDistinct(long[] hashes, int n) {
        for (int i = 0; i < n; i++) {
            hashes[i] ^= Long.MIN_VALUE; // as signed numbers, they now have that order
        }
        Arrays.sort(hashes, 0, n);
        int distinct = 0;
        for (int i = 0; i < n; i++) {
            if (i == 0 || hashes[i] != hashes[i - 1]) {
                hashes[distinct++] = hashes[i];
            }
        }
        long[] result = Arrays.copyOf(hashes, distinct);
        for (int i = 0; i < distinct; i++) {
            result[i] ^= Long.MIN_VALUE;
        }
        return result;
    }

    // ----------------------------------------------------------------
    // Building
    // ----------------------------------------------------------------

    /** Starts a filter for this many distinct keys, at the rate 0.01. */
    public static Builder builder(long capacity) {
        return builder(capacity, DEFAULT_FP_PROB);
    }

    /** Starts a filter for this many distinct keys, at this false-positive rate. */
    public static Builder builder(long capacity, double fpProb) {
        return builder(capacity, fpProb, 0, null);
    }

    /**
     * Starts a filter of the size that the server gives it. Filters of the same
     * arguments can be combined.
     *
     * @param keyType null: that of the first key
     */
    public static Builder builder(long capacity, double fpProb, long seed, KeyType keyType) {
        Sizes.Params best = Sizes.bestParams(fpProb);
        long most = MAX_WORDS * 64L / best.bitsPerKey();
        if (capacity < 1 || capacity > most) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + " is out of range: at this fpProb, it is 1 to " + most);
        }
        int words = (int) ((capacity * best.bitsPerKey() + 63) / 64);
        return new Builder(new Shape(words, best.hashes(), seed, capacity, fpProb), keyType);
    }

    /**
     * Starts a filter with the keys of this one.
     *
     * @throws IllegalStateException for the filter without a shape
     */
    public Builder toBuilder() {
        if (shape.words == 0) {
            throw new IllegalStateException("a filter without a shape has no room for keys");
        }
        Builder builder = new Builder(shape, keyType);
        if (bits != null) {
            builder.bits = bits.clone();
        } else {
            builder.hashes = keys.clone();
            builder.n = keys.length;
        }
        return builder;
    }

    /** Makes a filter of keys. It is not for several threads at once. */
    public static final class Builder {
        private final Shape shape;
        private KeyType keyType;
        private long[] hashes = new long[16]; // keys form: n of them, in any order, with repeats
        private int n;
        private byte[] bits; // bits form
        private Consumer<Info> onOverfull = info -> { };

        private Builder(Shape shape, KeyType keyType) {
            this.shape = shape;
            this.keyType = keyType;
        }

        /**
         * Adds a key.
         *
         * This one is a {@code smallint}, {@code integer} or {@code bigint}.
         *
         * @throws KeyTypeException if the keys before were of another type
         */
        public Builder add(long key) {
            return add(KeyType.BIGINT, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code text}, {@code varchar}, {@code name}, or {@code char(n)} without its trailing blanks. */
        public Builder add(String key) {
            return add(KeyType.TEXT, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code text} of one character, and not for its number. */
        public Builder add(char key) {
            return add(String.valueOf(key));
        }

        /** The same for a {@code bytea}. */
        public Builder add(byte[] key) {
            return add(KeyType.BYTEA, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code uuid}. */
        public Builder add(UUID key) {
            return add(KeyType.UUID, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code real} or {@code double precision}. */
        public Builder add(double key) {
            return add(KeyType.FLOAT, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code boolean}. */
        public Builder add(boolean key) {
            return add(KeyType.BOOLEAN, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code date}; its MIN and MAX are -infinity and infinity, as in JDBC. */
        public Builder add(LocalDate key) {
            return add(KeyType.DATE, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code timestamp}, in whole microseconds; its MIN and MAX are -infinity and infinity. */
        public Builder add(LocalDateTime key) {
            return add(KeyType.TIMESTAMP, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code timestamptz}, in whole microseconds; its MIN and MAX are -infinity and infinity. */
        public Builder add(OffsetDateTime key) {
            return add(KeyType.TIMESTAMPTZ, Keys.hash(key, shape.seed()));
        }

        /** The same for a {@code timestamptz}, in whole microseconds. */
        public Builder add(Instant key) {
            return add(KeyType.TIMESTAMPTZ, Keys.hash(key, shape.seed()));
        }

        private Builder add(KeyType given, long hash) {
            if (keyType == null) {
                keyType = given;
            } else if (keyType.number() != given.number()) {
                throw new KeyTypeException(keyType, given);
            }
            if (bits != null) {
                setBits(bits, shape.hashes, hash);
                return this;
            }
            if (n == hashes.length) {
                // at most twice as many as can stay
                hashes = Arrays.copyOf(hashes, (int) (2L * Math.min(n, shape.words) + 16));
            }
            hashes[n++] = hash;
            if (n >= 2 * shape.words) {
                flush();
            }
            return this;
        }

        /** Sorts the hashes, and turns them into bits if they are too many. */
        private BloomFilter flush() {
            if (bits != null) {
                return new BloomFilter(shape, keyType, null, bits.clone(), countBits(bits));
            }
            BloomFilter filter = ofKeys(shape, keyType, sortDistinct(hashes, n));
            if (filter.bits != null) {
                bits = filter.bits.clone();
                hashes = null;
            } else {
                System.arraycopy(filter.keys, 0, hashes, 0, filter.keys.length);
                n = filter.keys.length;
            }
            return filter;
        }

        /**
         * Calls this once, if {@link #build} makes a filter of more keys than its
         * capacity, with what is known of it: its {@code fpProbNow} is higher than
         * requested. Without it, ask {@link BloomFilter#isOverfull}.
         */
        public Builder onOverfull(Consumer<Info> action) {
            onOverfull = action;
            return this;
        }

        /** The filter of the keys so far. The builder can go on. */
        public BloomFilter build() {
            BloomFilter filter = flush();
            if (filter.isOverfull()) {
                Consumer<Info> action = onOverfull;
                onOverfull = info -> { };
                action.accept(filter.info());
            }
            return filter;
        }
    }
}
