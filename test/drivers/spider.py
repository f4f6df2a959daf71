"""A spider with examples/scrapy_dupefilter.py, on the database of the environment: prints
how many pages it got, and how many requests were left out.

    test/drivers/spider.py FOLDER SET KEEP
"""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

sys.path.insert(0, sys.argv[1])


class Pages(scrapy.Spider):
    name = 'pages'

    def start_requests(self):
        for page in (1, 2, 1, 3):
            yield scrapy.Request(f'data:,page{page}')

    def parse(self, response):
        yield {'page': response.text}


process = CrawlerProcess({
    'DUPEFILTER_CLASS': 'scrapy_dupefilter.SetDupeFilter', 'DUPEFILTER_SET': sys.argv[2],
    'DUPEFILTER_KEEP': sys.argv[3], 'LOG_LEVEL': 'ERROR', 'TELNETCONSOLE_ENABLED': False})
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
print(crawler.stats.get_value('item_scraped_count', 0), crawler.stats.get_value('dupefilter/filtered', 0))
