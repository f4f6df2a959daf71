"""Django's bulk_create(ignore_conflicts=True) on a view in place of a table of keys.

The program stays as it is; the set behind the view takes a fraction of the space of
the table, and forgets a key after three months.  Run it with an empty database, named
by PGHOST, PGPORT, PGUSER and PGDATABASE:

    python3 examples/django_view.py
"""
import os

import django
from django.conf import settings
from django.db import connection, models

settings.configure(DATABASES={'default': {
    'ENGINE': 'django.db.backends.postgresql', 'NAME': os.environ.get('PGDATABASE', 'postgres'),
    'USER': os.environ.get('PGUSER', ''), 'HOST': os.environ.get('PGHOST', ''), 'PORT': os.environ.get('PGPORT', '')}})
django.setup()

# In a migration: migrations.RunSQL(CREATE)
CREATE = '''
CREATE EXTENSION IF NOT EXISTS bloomtype_set CASCADE;
SELECT bloom_set_create('processed', 'bigint', keep => '3 months');
CREATE VIEW processed_events AS SELECT NULL::bigint AS id WHERE false;
CREATE TRIGGER dedup INSTEAD OF INSERT ON processed_events
    FOR EACH ROW EXECUTE FUNCTION bloom_set_dedup('processed', 'id');
'''


class ProcessedEvent(models.Model):
    id = models.BigIntegerField(primary_key=True)

    class Meta:
        app_label = 'inbox'
        managed = False
        db_table = 'processed_events'


def ask(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]


with connection.cursor() as create:
    create.execute(CREATE)

# what the program does
ProcessedEvent.objects.bulk_create([ProcessedEvent(id=i) for i in (1, 2, 3)], ignore_conflicts=True)
ProcessedEvent.objects.bulk_create([ProcessedEvent(id=i) for i in (2, 3, 4)], ignore_conflicts=True)
print(ask("SELECT keys FROM bloom_set_info('processed')"), 'keys')

# to know which are new, ask the set
print('new:', ask("SELECT bloom_set_add_all('processed', %s::bigint[])", [3, 4, 5, 6]))
