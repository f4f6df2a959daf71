package bloomtype;

import java.util.Map;

/**
 * What all keys of a filter are.
 *
 * @param number the OID of a built-in type, or the number of a name
 * @param name the name, such as {@code int8[]}; empty for a built-in type
 */
public record KeyType(long number, String name) {
    /** {@code smallint}, {@code integer} and {@code bigint} */
    public static final KeyType BIGINT = new KeyType(20, "");
    /** {@code text}, {@code varchar} and {@code name} */
    public static final KeyType TEXT = new KeyType(25, "");
    public static final KeyType BYTEA = new KeyType(17, "");
    public static final KeyType UUID = new KeyType(2950, "");
    /** {@code real} and {@code double precision} */
    public static final KeyType FLOAT = new KeyType(701, "");
    public static final KeyType BOOLEAN = new KeyType(16, "");
    public static final KeyType DATE = new KeyType(1082, "");
    public static final KeyType TIMESTAMP = new KeyType(1114, "");
    public static final KeyType TIMESTAMPTZ = new KeyType(1184, "");

    static final long NAMED = 1L << 31;

    private static final Map<Long, String> NAMES = Map.ofEntries(
            Map.entry(16L, "boolean"), Map.entry(17L, "bytea"), Map.entry(18L, "\"char\""),
            Map.entry(20L, "bigint"), Map.entry(25L, "text"), Map.entry(26L, "oid"),
            Map.entry(27L, "tid"), Map.entry(28L, "xid"), Map.entry(29L, "cid"),
            Map.entry(701L, "double precision"), Map.entry(774L, "macaddr8"),
            Map.entry(790L, "money"), Map.entry(829L, "macaddr"), Map.entry(869L, "inet"),
            Map.entry(1082L, "date"), Map.entry(1083L, "time"),
            Map.entry(1114L, "timestamp"), Map.entry(1184L, "timestamptz"),
            Map.entry(1186L, "interval"), Map.entry(1266L, "timetz"), Map.entry(1562L, "varbit"),
            Map.entry(1700L, "numeric"), Map.entry(2950L, "uuid"), Map.entry(3220L, "pg_lsn"),
            Map.entry(3802L, "jsonb"),
            Map.entry(5069L, "xid8"));

    static long numberOf(byte[] name) {
        return NAMED | (Xxh3.hash(name, 0) & (NAMED - 1));
    }

    /** The name of the type, as in SQL. */
    @Override
    public String toString() {
        return name.isEmpty() ? NAMES.getOrDefault(number, "of OID " + number) : name;
    }
}
