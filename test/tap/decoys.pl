#
# Nothing of ours calls a function, operator, cast or type of somebody else.
#
# Types and sets are trusted extensions: whoever may create a schema may have their
# install scripts run by a superuser, in that schema; and a superuser may make unique
# keys there.  So a name in the script that is
# resolved could be captured there: pg_catalog is searched first, but a
# function with the exact types of a call is a better match than pg_catalog's
# own, if that is polymorphic or would need a cast.  Later, callers have any
# search_path, and every name could be.
#
# So this fills a schema with decoys, each of which raises an error, first to
# install the extension in it, and then to call everything with the schema
# before pg_catalog.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('decoys');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE attacker LOGIN; CREATE DATABASE target; GRANT CREATE ON DATABASE target TO attacker');

my @types = qw(text int4 int8 float8 numeric bool name oid regtype regclass
  timestamptz interval bytea record text[] int4[] int8[]);

# functions that make a decoy, and tell 1 if they could
my $decoys = <<'SQL';
SET client_min_messages = error;
CREATE FUNCTION pg_temp.decoy(name text, arguments text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($decoy$
		CREATE FUNCTION ext.%I(%s) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''captured by a decoy of %s''; END'
		$decoy$, name, arguments, name);
	RETURN 1;
EXCEPTION
	-- types of arguments that no function in PL/pgSQL may have
	WHEN invalid_function_definition OR feature_not_supported OR duplicate_function OR datatype_mismatch
		OR undefined_object OR program_limit_exceeded OR reserved_name THEN
		RETURN 0;
END
$$;
CREATE FUNCTION pg_temp.decoy_operator(name text, l regtype, r regtype) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	arguments text := concat_ws(', ', l, r);
	function text := 'decoy_' || md5(name || arguments);
BEGIN
	EXECUTE format('CREATE FUNCTION ext.%I(%s) RETURNS bool LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''captured by a decoy of %s''''; END''',
				   function, arguments, replace(name, '%', '%%'));
	EXECUTE format('CREATE OPERATOR ext.%s (%s RIGHTARG = %s, FUNCTION = ext.%I)', name, 'LEFTARG = ' || l || ',', r, function);
	RETURN 1;
EXCEPTION
	WHEN invalid_function_definition OR feature_not_supported OR duplicate_function OR insufficient_privilege THEN
		RETURN 0;
END
$$;
SQL

#
# Decoys for the install script
#
# What it calls: every name in it that is one of a function of the server's,
# with arguments of all of the types above; and all operators between them.
#
my $script = slurp_file('bloomtype--1.0.sql') . slurp_file('set/bloomtype_set--0.9.sql') . slurp_file('set/bloomtype_unique--0.9.sql');
my %words = map { $_ => 1 } $script =~ /\b([a-z_][a-z_0-9]*)\s*\(/g;
# what a loop over the server's own catalogs would use
$words{$_} = 1 foreach qw(unnest format array_agg string_agg quote_ident generate_series);
my $words = join ',', map { "'$_'" } sort keys %words;
my $type_list = join ',', map { "'$_'" } @types;

my $made = $node->safe_psql('target', <<"SQL", extra_params => [ '-U', 'attacker' ]);
CREATE SCHEMA ext;
$decoys
WITH type AS (
	SELECT unnest(ARRAY[$type_list]) AS t
), arguments AS (
	SELECT '' AS a
	UNION ALL SELECT t FROM type
	UNION ALL SELECT l.t || ', ' || r.t FROM type AS l, type AS r
	UNION ALL SELECT 'text, text, ' || t FROM type
	UNION ALL SELECT 'text, text, text, ' || t FROM type
	UNION ALL SELECT 'text, text, text, text, text'
)
SELECT 'functions', sum(pg_temp.decoy(proname, a)) > 1000
FROM (SELECT DISTINCT proname::text FROM pg_catalog.pg_proc
	  WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ($words)) AS p, arguments;
-- every other polymorphic function, as one for text, integers, or arrays of them
SELECT 'polymorphic', sum(pg_temp.decoy(proname, arguments)) > 100
FROM (SELECT DISTINCT proname::text, replace(replace(replace(replace(replace(replace(
				pg_catalog.oidvectortypes(proargtypes),
				'anyarray', t || '[]'), 'anycompatiblearray', t || '[]'), 'anyelement', t), 'anycompatible', t), 'anynonarray', t), '"any"', t) AS arguments
	  FROM pg_catalog.pg_proc, unnest(ARRAY['text', 'int4', 'int8', 'regtype']) AS t
	  WHERE pronamespace = 'pg_catalog'::regnamespace
	    AND pg_catalog.oidvectortypes(proargtypes) ~ 'any') AS p
WHERE arguments !~ 'any';
SELECT 'operators', sum(pg_temp.decoy_operator(oprname, l.t::regtype, r.t::regtype)) > 1000
FROM (SELECT DISTINCT oprname FROM pg_catalog.pg_operator
	  WHERE oprname IN ('=', '<>', '<', '>', '<=', '>=', '||', '+', '-', '*', '/', '\@>', '<\@', '&', '|', '~', '!~')) AS o,
	 unnest(ARRAY[$type_list]) AS l (t), unnest(ARRAY[$type_list]) AS r (t);
SQL
is($made, "functions|t\npolymorphic|t\noperators|t", 'the decoys are there');
$node->safe_psql('target', <<"SQL", extra_params => [ '-U', 'attacker' ]);
SET search_path = pg_catalog;
@{[ map { "CREATE DOMAIN ext.$_ AS boolean;\n" } qw(text int2 int4 int8 float8 uuid bytea numeric date timestamp timestamptz internal cstring oid regclass anyelement anycompatible) ]}
SQL

# the decoys work: this is what a loop in the script did
my ($status, $stdout, $stderr) = $node->psql('target', <<'SQL', extra_params => [ '-U', 'attacker' ]);
SET search_path = ext, pg_temp;
SELECT unnest('{int2,int4}'::text[]);
SQL
like($stderr, qr/captured by a decoy of unnest/, 'a call by an unqualified name is captured');
($status, $stdout, $stderr) = $node->psql('target', <<'SQL', extra_params => [ '-U', 'attacker' ]);
SET search_path = ext, pg_temp;
SELECT 1::int4 - 0.5::float8;
SQL
like($stderr, qr/captured by a decoy of -/, 'and so is an operator that would need a cast');

($status, $stdout, $stderr) = $node->psql('target', 'CREATE EXTENSION bloomtype SCHEMA ext; CREATE EXTENSION bloomtype_set SCHEMA ext', extra_params => [ '-U', 'attacker' ]);
is($stderr, '', 'a role that may create a schema installs types and sets among decoys');
($status, $stdout, $stderr) = $node->psql('target', 'CREATE SCHEMA other; ALTER EXTENSION bloomtype SET SCHEMA other', extra_params => [ '-U', 'attacker' ]);
like($stderr, qr/must be owner of type ext\.bloom/, 'but cannot move it, since its objects belong to the superuser');
($status, $stdout, $stderr) = $node->psql('target', 'REASSIGN OWNED BY attacker TO CURRENT_USER; CREATE EXTENSION bloomtype_unique SCHEMA ext');
is($stderr, '', 'and a superuser, who has taken these over, unique keys');

is( $node->safe_psql('target', <<'SQL'), '', 'no object of the extension is made of a decoy');
SELECT pg_describe_object(r.refclassid, r.refobjid, 0)
FROM pg_depend AS d
	 JOIN pg_depend AS r ON r.classid = d.classid AND r.objid = d.objid AND r.deptype = 'n'
	 LEFT JOIN pg_depend AS own ON own.classid = r.refclassid AND own.objid = r.refobjid AND own.deptype IN ('e', 'i')
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('bloomtype', 'bloomtype_set', 'bloomtype_unique'))
  AND r.refclassid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass)
  AND own.objid IS NULL
SQL

#
# Decoys for every call
#
# With the schema before pg_catalog, a decoy with pg_catalog's own signature is
# chosen; so now there is one for all that is in pg_catalog, relations as well.
#
is($node->safe_psql('target', <<"SQL"), "functions|t\nrelations|t", 'decoys of everything');
$decoys
SELECT 'functions', sum(pg_temp.decoy(proname, pg_catalog.oidvectortypes(proargtypes))) > 1000
FROM pg_catalog.pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace;
DO \$\$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r FROM pg_operator
			 WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
	LOOP
		PERFORM pg_temp.decoy_operator(r.oprname, r.l, r.r);
	END LOOP;
	FOR r IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v')
	LOOP
		EXECUTE format('CREATE VIEW ext.%I AS SELECT 1 / (random() * 0)::int AS captured', r.relname);
	END LOOP;
END
\$\$;
SELECT 'relations', count(*) > 100 FROM pg_class WHERE relnamespace = 'ext'::regnamespace;
SQL

# A call of every public function, by name.  Operators, casts and input and
# output are below.  Each is a query that returns true.
my %calls = (
	best_params => q{(ext.best_params(0.01)).k OPERATOR(pg_catalog.=) 5},
	bloom_params => q{(ext.bloom_params(1000, 0.01)).hashes OPERATOR(pg_catalog.=) 5},
	bloom_fp_prob => q{ext.bloom_fp_prob(10, 5) OPERATOR(pg_catalog.=) ext.bloom_fp_prob(10, 5)},
	bloom_fp_prob_now => q{ext.bloom_fp_prob_now(f) IS NOT NULL},
	bloom_empty => q{ext.bloom_cardinality(ext.bloom_empty(100)) OPERATOR(pg_catalog.=) 0},
	bloom_empty_shaped => q{ext.bloom_cardinality(ext.bloom_empty_shaped(100, 3)) OPERATOR(pg_catalog.=) 0},
	bloom_add => q{ext.bloom_contains(ext.bloom_add(ext.bloom_empty(100), 5), 5)},
	bloom_add_all => q{ext.bloom_contains(ext.bloom_add_all(ext.bloom_empty(100), ARRAY['a', 'b']), 'b')},
	bloom_contains => q{ext.bloom_contains(f, 1)},
	bloom_contains_all => q{ext.bloom_contains_all(f, ARRAY[1, 2])},
	bloom_contains_any => q{ext.bloom_contains_any(f, ARRAY[1, 1000])},
	bloom_missing => q{ext.bloom_missing(f, ARRAY[1, 1000]) IS NOT NULL},
	bloom_superset => q{ext.bloom_superset(f, f)},
	bloom_union => q{ext.bloom_contains(ext.bloom_union(f, f), 1)},
	bloom_intersect => q{ext.bloom_contains(ext.bloom_intersect(f, f), 1)},
	bloom_fit => q{ext.bloom_contains(ext.bloom_fit(f, 0.01), 1)},
	bloom_cardinality => q{ext.bloom_cardinality(f) IS NOT NULL},
	bloom_intersect_cardinality => q{ext.bloom_intersect_cardinality(f, f) IS NOT NULL},
	bloom_is_overfull => q{NOT ext.bloom_is_overfull(ext.bloom_empty(100))},
	bloom_hash => q{ext.bloom_hash(1) IS NOT NULL},
	bloom_positions => q{ext.bloom_positions(f, 1) IS NOT NULL},
	bloom_contains_hash => q{ext.bloom_contains_hash(f, ext.bloom_hash(1))},
	bloom_add_hashes => q{ext.bloom_contains(ext.bloom_add_hashes(f, ARRAY[ext.bloom_hash(200)]), 200)},
	bloom_summary => q{ext.bloom_summary(f) IS NOT NULL},
	bloom_info => q{(ext.bloom_info(f)).representation IS NOT NULL},
	bloom_union_agg => q{(SELECT ext.bloom_contains(ext.bloom_union_agg(f), 1))},
	bloom_intersect_agg => q{(SELECT ext.bloom_contains(ext.bloom_intersect_agg(f), 1))},
	bloom_seen => q{ext.bloom_seen(1) OVER () IS NOT NULL AND ext.bloom_seen(1, 10, 0.01) OVER () IS NOT NULL},
	bloom_shard => q{ext.bloom_shard(1, 4) IS NOT NULL AND ext.bloom_shard('a', 4) IS NOT NULL},
	bloom_shard_capacity => q{ext.bloom_shard_capacity(1000, 4) IS NOT NULL},
	counting_bloom_empty => q{ext.counting_bloom_empty(100) IS NOT NULL},
	counting_bloom_add => q{ext.counting_bloom_contains(ext.counting_bloom_add(ext.counting_bloom_empty(100), 5), 5)},
	counting_bloom_add_all => q{ext.counting_bloom_contains(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), 2)},
	counting_bloom_remove => q{ext.counting_bloom_contains(ext.counting_bloom_remove(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), 1), 2)},
	counting_bloom_remove_all => q{NOT ext.counting_bloom_contains(ext.counting_bloom_remove_all(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), ARRAY[1, 2, 2]), 1)},
	counting_bloom_sum => q{ext.counting_bloom_contains(ext.counting_bloom_sum(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2])), 1)},
	counting_bloom_contains => q{ext.counting_bloom_contains(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), 1)},
	counting_bloom_count => q{ext.counting_bloom_count(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]), 2) OPERATOR(pg_catalog.>=) 2},
	counting_bloom_sum_agg => q{(SELECT ext.counting_bloom_contains(ext.counting_bloom_sum_agg(c), 1) FROM (SELECT ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]) AS c) AS s)},
	counting_bloom_info => q{(ext.counting_bloom_info(ext.counting_bloom_add_all(ext.counting_bloom_empty(100), ARRAY[1, 2, 2]))).representation IS NOT NULL},
	counting_bloom_cardinality => q{ext.counting_bloom_cardinality(ext.counting_bloom_empty(10)) OPERATOR(pg_catalog.=) 0},
	counting_bloom_agg => undef,	# each of them, below
	bloom_agg => undef,		# each of them, below
	bloom_set_create => q{ext.bloom_set_create('kept', 'pg_catalog.int4') IS NOT NULL AND ext.bloom_set_create('forgetting', 'pg_catalog.text', keep => '1 day') IS NOT NULL},
	bloom_set_add => q{ext.bloom_set_add('ext.kept', 5) AND ext.bloom_set_add('ext.forgetting', 'a')},
	bloom_set_add_all => q{ext.bloom_set_add_all('ext.kept', ARRAY[6, 7]) IS NOT NULL},
	bloom_set_contains => q{ext.bloom_set_contains('ext.kept', 5)},
	bloom_set_contains_all => q{ext.bloom_set_contains_all('ext.kept', ARRAY[5, 6])},
	bloom_set_contains_any => q{ext.bloom_set_contains_any('ext.kept', ARRAY[5, 100])},
	bloom_set_missing => q{ext.bloom_set_missing('ext.kept', ARRAY[5, 100]) IS NOT NULL},
	bloom_set_dedup => undef,	# a trigger's, below
	bloom_set_compact => q{ext.bloom_set_compact('ext.kept') IS NOT NULL AND ext.bloom_set_compact('ext.forgetting') IS NOT NULL},
	bloom_set_info => q{(ext.bloom_set_info('ext.forgetting')).keys IS NOT NULL},
	bloom_sets => q{(SELECT pg_catalog.count(*) OPERATOR(pg_catalog.=) 2 FROM ext.bloom_sets() WHERE problem IS NULL)},
	bloom_set_load => q{ext.bloom_set_load('ext.kept', 'SELECT 77') OPERATOR(pg_catalog.=) 1},
	bloom_set_remove => q{ext.bloom_set_remove('ext.kept', 77)},
	bloom_unique => undef,	# these, below
	bloom_unique_claim => undef,
	bloom_unique_claim_all => undef,
	bloom_unique_create => undef,
	bloom_unique_drop => undef,
	bloom_unique_rebuild => undef,
	bloom_unique_validate => undef,
	bloom_set_filter => q{ext.bloom_set_filter('ext.kept', 1000) IS NOT NULL},
);
my @order = sort { ($b eq 'bloom_set_create') <=> ($a eq 'bloom_set_create') || $a cmp $b } keys %calls;

# every function has a call here, and every call a function
my $ours = q{FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_depend AS d ON d.objid = p.oid
	WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
	  AND d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('bloomtype', 'bloomtype_set', 'bloomtype_unique'))};
my $public = $node->safe_psql('target', qq{SELECT DISTINCT proname COLLATE "C" $ours AND proname NOT LIKE E'\\\\_%' ORDER BY 1});
is($public, join("\n", sort keys %calls), 'every public function is called here');

my $first = "SET search_path = ext, pg_catalog, pg_temp;\n";
sub returns_true
{
	my ($what, $query) = @_;
	my ($rc, $out, $err) = $node->psql('target', $first . $query);
	is("$out$err", 't', $what);
	return;
}

foreach my $name (grep { defined $calls{$_} } @order)
{
	returns_true($name, "SELECT $calls{$name} FROM (SELECT ext.bloom_agg(i) AS f FROM pg_catalog.generate_series(1, 100) AS i) AS s");
}

# bloom_agg and counting_bloom_agg: a call of each
my %key = (
	int2 => q{'5'}, int4 => q{'5'}, int8 => q{'5'}, text => q{'a'}, numeric => q{'5'}, float8 => q{'5'}, bytea => q{'a'},
	uuid => q{'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'}, date => q{'2026-01-01'}, timestamp => q{'2026-01-01'}, timestamptz => q{'2026-01-01'}, char => q{'a'},
	anyelement => q{'t'}, record => q{'t'});
my @rest = ('', ', 0.01', ', 1000, 0.01', ', ext.bloom_empty(100)');
foreach my $signature (split /\n/, $node->safe_psql('target', qq{
	SELECT proname, (SELECT typname FROM pg_type AS t WHERE t.oid = proargtypes[0]), proargtypes[1] = (SELECT oid FROM pg_type WHERE typname = 'bloom'), pronargs
	$ours AND proname IN ('bloom_agg', 'counting_bloom_agg') ORDER BY 1, 2, 3, 4}))
{
	my ($name, $type, $into, $nargs) = split /[|]/, $signature;
	next if $name eq 'counting_bloom_agg' && $nargs == 1;	# always an error
	(my $contains = $name) =~ s/agg$/contains/;
	my $key = exists $key{$type} ? $key{$type} . '::pg_catalog.' . ($type eq 'anyelement' || $type eq 'record' ? 'bool' : qq{"$type"}) : "no value of type $type";
	my $rest = ($into // '') eq 't' ? $rest[3] : $rest[ $nargs == 1 ? 0 : $nargs == 2 ? 1 : 2 ];
	returns_true("$name($type$rest)", "SELECT ext.$contains(ext.$name($key$rest), $key)");
}

# operators, casts, input and output
foreach my $expression (
	'f OPERATOR(ext.@>) 1', '1 OPERATOR(ext.<@) f', 'f OPERATOR(ext.=) f', 'NOT f OPERATOR(ext.<>) f',
	'(f OPERATOR(ext.|) f) OPERATOR(ext.@>) 1', '(f OPERATOR(ext.&) f) OPERATOR(ext.@>) 1',
	'f::pg_catalog.bytea::ext.bloom OPERATOR(ext.=) f', 'f::pg_catalog.text::ext.bloom OPERATOR(ext.=) f',
	'(SELECT pg_catalog.count(*) FROM (SELECT DISTINCT f) AS d) OPERATOR(pg_catalog.=) 1',
	'c OPERATOR(ext.@>) 1', '1 OPERATOR(ext.<@) c', 'c OPERATOR(ext.=) c', 'NOT c OPERATOR(ext.<>) c',
	'(c OPERATOR(ext.+) c) OPERATOR(ext.@>) 1', 'c::ext.bloom OPERATOR(ext.@>) 1',
	'c::pg_catalog.bytea::ext.counting_bloom OPERATOR(ext.=) c', 'c::pg_catalog.text::ext.counting_bloom OPERATOR(ext.=) c')
{
	returns_true($expression, "SELECT $expression FROM (SELECT ext.bloom_agg(i) AS f, ext.counting_bloom_agg(i, 100, 0.01) AS c FROM pg_catalog.generate_series(1, 100) AS i) AS s");
}
is( $node->safe_psql('target', q{
	SELECT count(*) FROM pg_operator AS o JOIN pg_depend AS d ON d.objid = o.oid
	WHERE d.classid = 'pg_operator'::regclass AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass}),
	11, 'these are all operators');

# the trigger function
returns_true('bloom_set_dedup', q{
	CREATE TABLE ext.events (id pg_catalog.int8);
	CREATE TRIGGER dedup BEFORE INSERT ON ext.events FOR EACH ROW EXECUTE FUNCTION ext.bloom_set_dedup('ext.kept', 'id');
	INSERT INTO ext.events VALUES (5), (200), (200);
	SELECT pg_catalog.count(*) OPERATOR(pg_catalog.=) 1 FROM ext.events});

# unique keys
returns_true('bloom_unique', q{
	SET client_min_messages = error;
	CREATE TABLE ext.parted (id pg_catalog.int8, p pg_catalog.int4) PARTITION BY LIST (p);
	CREATE TABLE ext.parted_1 PARTITION OF ext.parted FOR VALUES IN (1);
	CREATE TABLE ext.parted_2 (id pg_catalog.int8, p pg_catalog.int4);
	CREATE INDEX ON ext.parted (id);
	INSERT INTO ext.parted VALUES (1, 1);
	SELECT ext.bloom_unique_create('ext.parted', 'id', validate => false) \g /dev/null
	CALL ext.bloom_unique_validate('ext.parted', 'id');
	INSERT INTO ext.parted SELECT i, 1 FROM pg_catalog.unnest(ext.bloom_unique_claim_all('ext.parted', 'id', ARRAY[1, 2, 2]::pg_catalog.int8[])) AS i;
	ALTER TABLE ext.parted ATTACH PARTITION ext.parted_2 FOR VALUES IN (2);
	INSERT INTO ext.parted SELECT i, 2 FROM pg_catalog.generate_series(2::pg_catalog.int8, 3::pg_catalog.int8) AS i WHERE ext.bloom_unique_claim('ext.parted', 'id', i);
	ALTER TABLE ext.parted DISABLE TRIGGER USER;
	ALTER TABLE ext.parted ENABLE TRIGGER USER;
	ALTER TABLE ext.parted OWNER TO CURRENT_USER;
	SELECT ext.bloom_unique_rebuild('ext.parted', 'id') OPERATOR(pg_catalog.=) 3
	   AND ext.bloom_unique_drop('ext.parted', 'id') IS NOT NULL
	FROM (SELECT pg_catalog.count(*) AS n FROM ext.parted) AS s WHERE n OPERATOR(pg_catalog.=) 3});

# the estimators
returns_true('estimates', q{
	CREATE TABLE ext.numbers AS SELECT i FROM pg_catalog.generate_series(1, 1000) AS i;
	ANALYZE ext.numbers;
	EXPLAIN SELECT FROM ext.numbers WHERE ext.bloom_empty(10) OPERATOR(ext.@>) i AND i OPERATOR(ext.<@) ext.bloom_empty_shaped(64, 1)
		AND ext.bloom_contains(ext.bloom_empty(10), i) \g /dev/null
	SELECT true});

#
# Decoys of our own type
#
# Sets in another schema than the type: their script says "bloom", and their schema is
# searched first.
#
my $in_public = "SET client_min_messages = error; CREATE SCHEMA types; CREATE EXTENSION bloomtype SCHEMA types; CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; GRANT USAGE ON SCHEMA types TO mallory;";
$node->safe_psql('postgres', "CREATE DATABASE apart");
$node->safe_psql('apart', $in_public);
foreach my $decoy ('DOMAIN public.bloom AS text', 'DOMAIN public.bloom AS types.bloom', 'TYPE public.bloom AS (f types.bloom)', "TYPE public.bloom AS ENUM ('a')")
{
	$node->safe_psql('apart', "SET ROLE mallory; CREATE $decoy");
	($status, $stdout, $stderr) = $node->psql('apart', "\\set VERBOSITY verbose\nCREATE EXTENSION bloomtype_set");
	like($stderr, qr/ERROR:  42809: type public\.bloom is not that of extension bloomtype\n.*HINT:  Drop or rename the type, or create the extension in another schema\./s, "no sets with CREATE $decoy");
	$node->safe_psql('apart', 'DROP TYPE public.bloom CASCADE');
}
is($node->safe_psql('apart', q{SELECT count(*) FROM pg_proc WHERE proname ~ 'bloom_set'}), '0', 'nothing of them stayed');
$node->safe_psql('apart', q{SET ROLE mallory; CREATE DOMAIN public.bloom AS text; CREATE FUNCTION public._bloom_set_check(int DEFAULT 1) RETURNS void LANGUAGE sql AS ''});
is($node->safe_psql('apart', q{CREATE SCHEMA sets; CREATE EXTENSION bloomtype_set SCHEMA sets; SELECT sets.bloom_set_create('sets.s', 'int', seed => 1);
	SELECT prorettype::regtype FROM pg_proc WHERE proname = 'bloom_set_filter'}), "sets.s\ntypes.bloom", 'elsewhere they are made with the type');
is($node->safe_psql('apart', q{SET search_path = public, sets, types; SELECT bloom_set_add('s', 1); SELECT bloom_set_filter('s', 10) @> 1}), "t\nt", '... and work, whatever the search_path');

$node->stop;
done_testing();
