package bloomtype;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** The sizes that the server gives to filters. */
public final class Sizes {
    private Sizes() {
    }

    public record Params(int bitsPerKey, int hashes) {
    }

    /**
     * The smallest whole number of bits per key that reaches the false-positive
     * rate, and the smallest number of hashes that then still does, as
     * {@code best_params} does.
     */
    public static Params bestParams(double fpProb) {
        for (int bitsPerKey = 1; bitsPerKey <= 64 && fpProb < 1; bitsPerKey++) {
            int most = (int) Math.ceil(bitsPerKey * Math.log(2));
            for (int hashes = 1; hashes <= most; hashes++) {
                if (rate(bitsPerKey, hashes) <= fpProb) {
                    return new Params(bitsPerKey, hashes);
                }
            }
        }
        throw new IllegalArgumentException(
                "fpProb " + fpProb + " is out of range: it is at least 4.43e-14, and less than 1");
    }

    /**
     * The false-positive rate at capacity. From 2 to 20 bits per key, it is that
     * of the table that is published: three digits, and 0.092 where 0.0918 is
     * right.
     */
    private static double rate(int bitsPerKey, int hashes) {
        double rate = Math.pow(-Math.expm1(-(double) hashes / bitsPerKey), hashes);
        if (bitsPerKey == 5 && hashes == 3) {
            return 0.092;
        }
        return bitsPerKey < 2 || bitsPerKey > 20 ? rate
                : new BigDecimal(rate).round(new MathContext(3, RoundingMode.HALF_EVEN)).doubleValue();
    }
}
