package bloomtype;

import java.util.function.LongToIntFunction;

/**
 * Prints the time of a hash and of a test of the same integer keys, in a filter
 * of a million keys, of which half are there: the best of many rounds, since
 * other programs only ever add to it.
 */
public final class Bench {
    private static final int N = 1000000;
    private static final int STEP = 100000;

    private static double best(int from, int to, LongToIntFunction work) {
        double best = Double.POSITIVE_INFINITY;
        for (int round = 0; round < 20; round++) {
            for (int start = from; start < to; start += STEP) {
                long time = System.nanoTime();
                int sum = 0;
                for (long key = start; key < start + STEP; key++) {
                    sum += work.applyAsInt(key);
                }
                best = Math.min(best, (System.nanoTime() - time) / (double) STEP);
                if (sum == 0) {
                    throw new AssertionError("so that the sum is computed");
                }
            }
        }
        return best;
    }

    public static void main(String[] args) {
        BloomFilter.Builder builder = BloomFilter.builder(N);
        for (int key = 0; key < N; key++) {
            builder.add(key);
        }
        BloomFilter filter = builder.build();
        long seed = filter.info().seed();
        double hash = best(0, 2 * N, key -> (int) Keys.hash(key, seed));
        double present = best(0, N, key -> filter.contains(key) ? 1 : 0);
        double absent = best(N, 2 * N, key -> filter.contains(key) ? 1 : 0);
        System.out.printf("%.1f ns/hash, %.1f ns/present, %.1f ns/absent, ratio %.1f%n", hash, present,
                absent, (present + absent) / 2 / hash);
    }
}
