package bloomtype;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/** The hashes of keys, by their canonical bytes. */
final class Keys {
    /** 2000-01-01 in seconds and in days since 1970-01-01. */
    private static final long EPOCH = 946684800;
    private static final long EPOCH_DAY = EPOCH / 86400;

    private Keys() {
    }

    /** No key has the hash 0. */
    static long notZero(long hash) {
        return hash == 0 ? 1 : hash;
    }

    static long hash(long key, long seed) {
        return notZero(Xxh3.hash(key, seed));
    }

    static long hash(byte[] key, long seed) {
        return notZero(Xxh3.hash(key, seed));
    }

    static long hash(String key, long seed) {
        if (key.indexOf(0) >= 0) {
            throw new IllegalArgumentException("a text has no character 0");
        }
        for (int i = 0; i < key.length(); i++) {
            if (Character.isSurrogate(key.charAt(i))) {
                if (!Character.isSupplementaryCodePoint(key.codePointAt(i))) {
                    throw new IllegalArgumentException("half of a surrogate pair is no character");
                }
                i++;
            }
        }
        return hash(key.getBytes(StandardCharsets.UTF_8), seed);
    }

    static long hash(UUID key, long seed) {
        return notZero(Xxh3.hash(Long.reverseBytes(key.getMostSignificantBits()),
                Long.reverseBytes(key.getLeastSignificantBits()), seed));
    }

    static long hash(double key, long seed) {
        return hash(Double.doubleToLongBits(key == 0 ? 0.0 : key), seed); // one NaN, and 0 for -0
    }

    static long hash(boolean key, long seed) {
        return hash(new byte[] {(byte) (key ? 1 : 0)}, seed);
    }

    static long hash(LocalDate key, long seed) {
        return notZero(Xxh3.hash(days(key), seed));
    }

    private static int days(LocalDate date) {
        if (date.equals(LocalDate.MAX)) {
            return Integer.MAX_VALUE;
        } else if (date.equals(LocalDate.MIN)) {
            return Integer.MIN_VALUE;
        }
        long days = date.toEpochDay() - EPOCH_DAY;
        if (days <= Integer.MIN_VALUE || days >= Integer.MAX_VALUE) {
            throw new IllegalArgumentException("the date " + date + " is out of range");
        }
        return (int) days;
    }

    static long hash(LocalDateTime key, long seed) {
        if (key.equals(LocalDateTime.MAX)) {
            return hash(Long.MAX_VALUE, seed);
        } else if (key.equals(LocalDateTime.MIN)) {
            return hash(Long.MIN_VALUE, seed);
        }
        return hash(microseconds(key.toInstant(ZoneOffset.UTC)), seed);
    }

    static long hash(OffsetDateTime key, long seed) {
        if (key.equals(OffsetDateTime.MAX)) {
            return hash(Long.MAX_VALUE, seed);
        } else if (key.equals(OffsetDateTime.MIN)) {
            return hash(Long.MIN_VALUE, seed);
        }
        return hash(microseconds(key.toInstant()), seed);
    }

    static long hash(Instant key, long seed) {
        return hash(microseconds(key), seed);
    }

    private static long microseconds(Instant time) {
        final long limit = Long.MAX_VALUE / 1000000 - 1;
        long seconds = time.getEpochSecond() - EPOCH;
        if (seconds <= -limit || seconds >= limit || time.getNano() % 1000 != 0) {
            throw new IllegalArgumentException(
                    time + " is not a timestamp in whole microseconds, or out of range");
        }
        return seconds * 1000000 + time.getNano() / 1000;
    }
}
