#
# The SQL examples of the documentation print what the documentation says.
# scripts/doc-examples has the rules.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require './scripts/doc-examples';

my $node = PostgreSQL::Test::Cluster->new('docs');
$node->init;
$node->start;

foreach my $file ('README.md', sort glob 'docs/*.md')
{
	my $doc = read_examples($file);
	(my $database = lc $file) =~ s/\W/_/g;

	note "$file: $doc->{skipped} blocks are shown only" if $doc->{skipped};
	next unless @{ $doc->{examples} };
	run_examples(
		$doc,
		sub {
			my ($script) = @_;
			my $printed;

			$node->safe_psql('postgres', "CREATE DATABASE $database");
			IPC::Run::run(
				[
					'psql', '-Xq', '-v', 'host=' . $node->host,
					'-v', 'port=' . $node->port, '-d',
					$node->connstr($database)
				],
				'<', \$script, '>&', \$printed);
			return $printed;
		});
	foreach my $example (@{ $doc->{examples} })
	{
		ok(is_right($example), title($doc, $example))
		  or diag("printed:\n$example->{printed}");
	}
}

$node->stop;
done_testing();
