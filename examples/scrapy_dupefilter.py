"""A duplicate filter for Scrapy on a stored set.

A page is requested once, by all spiders on all machines that use the database, and
again when the set has forgotten it.  In settings.py of a project, beside this file:

    DUPEFILTER_CLASS = 'scrapy_dupefilter.SetDupeFilter'
    DUPEFILTER_DSN = 'dbname=crawl'         # as for psycopg2.connect
    DUPEFILTER_SET = 'requested'            # the set; it is made if there is none
    DUPEFILTER_KEEP = '30 days'             # None: forever

A request counts as seen from the moment that it is scheduled.  To let one that has
failed come again, call forget() from its errback.
"""
import psycopg2
from scrapy.dupefilters import BaseDupeFilter


class SetDupeFilter(BaseDupeFilter):
    def __init__(self, dsn, name, keep, fingerprinter, stats):
        self.dsn, self.name, self.keep = dsn, name, keep
        self.fingerprinter, self.stats = fingerprinter, stats

    @classmethod
    def from_crawler(cls, crawler):
        settings = crawler.settings
        return cls(settings.get('DUPEFILTER_DSN', ''), settings.get('DUPEFILTER_SET', 'requested'),
                   settings.get('DUPEFILTER_KEEP'), crawler.request_fingerprinter, crawler.stats)

    def open(self):
        self.connection = psycopg2.connect(self.dsn)
        self.connection.autocommit = True
        self.ask("SELECT bloom_set_create(%s, 'bytea', keep => %s, if_not_exists => true)", self.name, self.keep)

    def close(self, reason):
        self.connection.close()

    def ask(self, sql, *parameters):
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchone()[0]

    def request_seen(self, request):
        return not self.ask('SELECT bloom_set_add(%s, %s)', self.name, self.fingerprinter.fingerprint(request))

    def forget(self, request):
        self.ask('SELECT bloom_set_remove(%s, %s)', self.name, self.fingerprinter.fingerprint(request))

    def log(self, request, spider):
        self.stats.inc_value('dupefilter/filtered', spider=spider)
