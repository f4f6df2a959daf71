# PostgreSQL with bloomtype:
#	docker build -t postgres-bloomtype --build-arg PG_MAJOR=18 .
ARG PG_MAJOR=18
FROM postgres:$PG_MAJOR AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc libc6-dev libxxhash-dev make postgresql-server-dev-$PG_MAJOR
COPY . /bloomtype
RUN make -C /bloomtype with_llvm=no DESTDIR=/installed install

FROM postgres:$PG_MAJOR
COPY --from=build /installed /
COPY LICENSE /usr/share/doc/bloomtype/LICENSE
