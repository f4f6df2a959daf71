#
# Stored sets: what a statement has read of them takes the memory of a hash table,
# be it asked by 60 partitions, or of several sets: but for a block of 64 kB, and at
# most a range and such a block more.  And a filter of a set's keys takes its own size,
# and no more than a million keys beside.
#
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../../test";
use Server;
use Test::More;

my $node = start_server('memory', "fsync = off\nshared_buffers = 2MB\n");

answer('SELECT ' . create_set("many_$_", 'int', "seed => $_")) foreach 1 .. 3;
answer(q{
	SELECT bloom_set_add_all(('many_' || i)::regclass, ARRAY(SELECT generate_series(1, 100000))) FROM generate_series(1, 3) AS i;
	CREATE TABLE part (k int) PARTITION BY HASH (k);
	DO $$
	BEGIN
		FOR i IN 0 .. 59 LOOP
			EXECUTE format('CREATE TABLE part_%s PARTITION OF part FOR VALUES WITH (MODULUS 60, REMAINDER %s)', i, i);
		END LOOP;
	END
	$$;
	INSERT INTO part SELECT generate_series(1, 60000);
	CREATE FUNCTION kilobytes() RETURNS bigint LANGUAGE sql VOLATILE AS
		$$SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts WHERE name = 'Bloom set cache'$$});
my $small = 'SET work_mem = 256; SET hash_mem_multiplier = 1; SELECT max(CASE WHEN k % 500 = 0 THEN kilobytes() END)';
foreach my $asked ("part WHERE bloom_set_contains('many_1', k)",
	"generate_series(1, 60000) AS k WHERE bloom_set_contains(('many_' || k % 3 + 1)::regclass, k)")
{
	my $most = answer("$small FROM $asked");
	ok(256 - 64 <= $most && $most <= 256 + 2 * 64, "$most kB: $asked");
}

SKIP:
{
	skip 'no VmHWM', 12 unless -r '/proc/self/status';
	answer(q{
		CREATE FUNCTION peak() RETURNS bigint LANGUAGE sql VOLATILE AS
			$$SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+) kB')::bigint$$});
	foreach my $millions (1, 2, 4)
	{
		my $keys = $millions * 1e6;

		answer('SELECT ' . create_set("large_$millions", 'int', 'seed => 1') . "; SELECT bloom_set_load('large_$millions', 'SELECT generate_series(1, $keys)')");
		# keys, and bits
		foreach my $capacity (1e8, 1e7)
		{
			my $filter = "bloom_set_filter('large_$millions', $capacity)";
			my $bytes = answer("SELECT (bloom_info($filter)).bytes");
			# what the session needs otherwise is there before
			my (undef, $before, undef, $after) = split /\n/,
			  answer("SELECT keys FROM bloom_set_info('large_$millions'); SELECT peak(); SELECT $filter IS NULL; SELECT peak()");
			my $taken = 1024 * ($after - $before);

			cmp_ok($taken, '<=', $bytes + 8e6, "$taken bytes for a filter of $bytes, of $millions million keys");
			cmp_ok($taken, '>=', $bytes / 2, '... which is in memory');
		}
	}
}

$node->stop;
done_testing();
