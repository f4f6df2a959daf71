#
# ALTER EXTENSION UPDATE: of each extension, from an older version made up for the test to
# this one.
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
plan skip_all => "cannot write to $dir" unless -w $dir;

# where the second halves begin, in the order in which the extensions need each other
my @extensions = (
	bloomtype => qr/^-- -{64}\n--\s+WINDOW FUNCTION/m,
	bloomtype_set => qr/^CREATE FUNCTION bloom_set_dedup\b/m,
	bloomtype_unique => qr/^CREATE FUNCTION _bloom_unique_ddl\b/m);
my (@names, %files, %version);
while (my ($name, $middle) = splice @extensions, 0, 2)
{
	my ($version) = slurp_file("$dir/$name.control") =~ /default_version = '(.*)'/;
	my ($old, $new) = slurp_file("$dir/$name--$version.sql") =~ /^(.*?)($middle.*)$/s or die "the script of $name has no such place";
	my ($guard) = $old =~ /^(\\echo[^\n]*\n)/m;

	push @names, $name;
	$version{$name} = $version;
	$files{"$dir/$name--0.1.sql"} = $old;
	$files{"$dir/$name--0.1--$version.sql"} = $guard . $new;
}
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
			FROM pg_type AS t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid),
		   (SELECT (e.evtevent, e.evtenabled, e.evttags, e.evtfoid::regproc)::text
			FROM pg_event_trigger AS e WHERE d.classid = 'pg_event_trigger'::regclass AND e.oid = d.objid)
	FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	WHERE e.extname ~ '^bloomtype' AND d.deptype = 'e'
	ORDER BY 1};

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', "CREATE EXTENSION $_") foreach @names;
my $fresh = $node->safe_psql('fresh', $objects);

$node->safe_psql('postgres', "CREATE EXTENSION $_ VERSION '0.1'") foreach @names;
$node->safe_psql('postgres', q{
	CREATE TABLE kept AS SELECT bloom_agg(i) AS f FROM generate_series(1, 1000) AS i;
	CREATE VIEW uses AS SELECT f @> 5 AS there FROM kept;
	SELECT bloom_set_create('seen', 'int');
	SELECT bloom_set_add('seen', 1)});
foreach my $name (@names)
{
	$node->safe_psql('postgres', "ALTER EXTENSION $name UPDATE");
	is($node->safe_psql('postgres', "SELECT extversion FROM pg_extension WHERE extname = '$name'"), $version{$name}, "$name is updated");
}
is($node->safe_psql('postgres', $objects), $fresh, 'updated extensions are the same as new ones');
is( $node->safe_psql('postgres', q{
	SELECT count(*) FROM kept, generate_series(1, 1000) AS i WHERE f @> i;
	SELECT there FROM uses;
	SELECT count(*) FROM (SELECT bloom_seen(1) OVER () FROM kept) AS s;
	SELECT bloom_set_add('seen', 1), bloom_set_add('seen', 2)}),
	"1000\nt\n1\nf|t", 'filters, views and sets of the older versions work');

# dropped, it leaves nothing behind
$node->safe_psql('postgres', 'DROP EXTENSION bloomtype CASCADE; DROP TABLE seen');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname LIKE '%bloom%' AND oid >= 16384}), 0,
	'nothing is left of a dropped extension');

$node->stop;
done_testing();
