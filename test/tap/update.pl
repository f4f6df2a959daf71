#
# ALTER EXTENSION UPDATE: from an older version made up for the test to this one.
#
# The older version is the first half of the install script, the update script
# its second half.  What comes of both must be what a fresh install makes.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = `pg_config --sharedir`;
chomp $dir;
$dir .= '/extension';
my $script = slurp_file("$dir/bloomtype--1.0.sql");
plan skip_all => "cannot write to $dir" unless -w $dir;

# Sections begin with a banner.  Statements are never cut.
my $banner = qr/^-- -{64}\n--\s+WINDOW FUNCTION/m;
my ($old, $new) = $script =~ /^(.*?)($banner.*)$/s;
die 'the install script has no such section' unless defined $new;
my ($guard) = $script =~ /^(\\echo[^\n]*\n)/m;

my %files = (
	"$dir/bloomtype--0.9.sql" => $old,
	"$dir/bloomtype--0.9--1.0.sql" => $guard . $new);
END
{
	my $status = $?;
	unlink keys %files;
	$? = $status;
}
append_to_file($_, $files{$_}) foreach keys %files;

my $node = PostgreSQL::Test::Cluster->new('update');
$node->init;
$node->start;

# All that an extension can make, but for the OIDs.
my $objects = q{
	SELECT pg_describe_object(d.classid, d.objid, d.objsubid), obj_description(d.objid, d.classid::regclass::text::name),
		   (SELECT (p.prokind, p.provolatile, p.proparallel, p.proisstrict, p.procost, p.prorows, p.prosupport::regproc, p.prosrc,
					p.proretset, p.proconfig, p.proacl, p.proowner::regrole, pg_get_function_arguments(p.oid),
					pg_get_function_result(p.oid))::text FROM pg_proc AS p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid),
		   (SELECT (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggtranstype::regtype, a.aggtransspace, a.aggfinalmodify, a.agginitval)::text
			FROM pg_aggregate AS a WHERE d.classid = 'pg_proc'::regclass AND a.aggfnoid = d.objid),
		   (SELECT (o.oprcode, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprrest, o.oprjoin, o.oprcanhash)::text
			FROM pg_operator AS o WHERE d.classid = 'pg_operator'::regclass AND o.oid = d.objid),
		   (SELECT (t.typlen, t.typalign, t.typstorage, t.typinput, t.typoutput, t.typreceive, t.typsend)::text
			FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid)
	FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	WHERE e.extname = 'bloomtype' AND d.deptype = 'e'
	ORDER BY 1};

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION bloomtype');
my $fresh = $node->safe_psql('fresh', $objects);

$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomtype VERSION '0.9';
	CREATE TABLE kept AS SELECT bloom_agg(i) AS f FROM generate_series(1, 1000) AS i;
	CREATE VIEW uses AS SELECT f @> 5 AS there FROM kept});
my $before = $node->safe_psql('postgres', $objects);
isnt($before, $fresh, 'the older version lacks something');
$node->safe_psql('postgres', 'ALTER EXTENSION bloomtype UPDATE');
is($node->safe_psql('postgres', $objects), $fresh, 'an updated extension is the same as a new one');
is($node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'bloomtype'}), '1.0', 'version');
is( $node->safe_psql('postgres', q{
	SELECT count(*) FROM kept, generate_series(1, 1000) AS i WHERE f @> i;
	SELECT there FROM uses;
	SELECT count(*) FROM (SELECT bloom_seen(1) OVER () FROM kept) AS s}),
	"1000\nt\n1", 'filters and views of the older version work');

# dropped, it leaves nothing behind
$node->safe_psql('postgres', 'DROP EXTENSION bloomtype CASCADE');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname LIKE '%bloom%' AND oid >= 16384}), 0,
	'nothing is left of a dropped extension');

$node->stop;
done_testing();
