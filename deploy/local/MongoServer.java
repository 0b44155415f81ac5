// The MongoDB stand-in of the local mesh: a MongoDB wire server over one H2 MVStore file, for a
// machine without mongod on the PATH. Run it without a build:
// java -cp 'lib/*' MongoServer.java PORT FILE [HOST]. Not for production.
//
// It promises:
// - an acknowledged write survives kill -9: it is committed to the file before it is answered, and
//   a commit never holds half a write (an index entry without its document);
// - a value that a unique index holds is refused, with the keys that MongoDB makes of arrays;
// - a query returns the same documents with an index as without one;
// - a document that is returned has no part of a later update;
// - an index that conflicts with another one, and a hint that names no index, are refused with the
//   codes of MongoDB 6;
// - a read ends at its maxTimeMS, and documents of a TTL index are removed after their expiry;
// - compaction runs in short steps, so that a growing file does not stop writes for long.
//
// It does not promise:
// - durability after a power failure: the file is not fsynced for each commit;
// - transactions, change streams, pipeline updates, or partial indexes; a hint is checked and has
//   no other effect;
// - the order of an index for a query without a limit, or one whose index has arrays, flags, binary
//   data or documents: it reads and sorts all that match. Counts and `distinct` read all, too;
// - replica sets, users and access rights, or TLS;
// - the speed of MongoDB: benchmarks on it are compared only with each other.

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.ArrayFilters;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.DocumentWithPosition;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.BinData;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import de.bwaldvogel.mongo.exception.CannotIndexParallelArraysError;
import de.bwaldvogel.mongo.exception.DuplicateKeyError;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.oplog.Oplog;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ByteArrayDataType;

public class MongoServer {
    /**
     * More threads than cores: a write occupies its thread until its commit, and waiting threads
     * share one commit.
     */
    static final int WORKER_THREADS = 16;

    /**
     * Compaction blocks writes. So it runs while the server is idle, and for a file above
     * FILE_BYTES_MAX under load too, in steps that take STEP_MS: a step rewrites fewer bytes than
     * the last one if that took longer, more if it took less, and the least after one with nothing
     * to do. The pause between two steps is PAUSE_TIMES as long as the last one: they take a tenth
     * of the time.
     */
    static final int COMPACT_EVERY_MS = 250;
    static final int IDLE_MS = 250;
    static final int COMPACT_BELOW_PERCENT = 60;
    static final int STEP_BYTES_MIN = 32 * 1024;
    static final int STEP_BYTES_MAX = 1024 * 1024;
    static final int STEP_MS = 20;
    static final long FILE_BYTES_MAX = 4L * 1024 * 1024 * 1024;
    static final int PAUSE_TIMES = 9;

    /**
     * How long chunks without live data are kept for readers that still use them. Every commit
     * makes a chunk.
     */
    static final int RETENTION_MS = 5_000;

    /**
     * How often expired documents are removed, unless `setParameter` changes it. Each turn reads
     * documents for SWEEP_MS at most, and writes wait for the removal of SWEEP_BATCH of them.
     */
    static final int SWEEP_EVERY_S = 5;
    static final int SWEEP_MS = 50;
    static final int SWEEP_BATCH = 100;

    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]);
        // An automatic commit could save half a write (an index entry without its document). So the
        // background writer is disabled, and with a buffer size of 0 a full buffer does not commit.
        MVStore store = new MVStore.Builder()
            .fileName(args[1])
            .autoCommitDisabled()
            .autoCommitBufferSize(0)
            .open();
        store.setRetentionTime(RETENTION_MS);
        store.setStoreVersion(Bson.FORMAT);

        DurableBackend backend = new DurableBackend(store);
        backend.version(new Version());
        var server = new de.bwaldvogel.mongo.MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        Executors.newSingleThreadScheduledExecutor(MongoServer::daemon)
            .scheduleWithFixedDelay(
                backend::maintain, COMPACT_EVERY_MS, COMPACT_EVERY_MS, TimeUnit.MILLISECONDS);
        String host = args.length > 2 ? args[2] : "127.0.0.1";
        server.bind(new InetSocketAddress(host, port), 1, WORKER_THREADS);
        System.out.println("mongo stand-in listens on " + host + ":" + port + ", data in " + args[1]);
    }

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "maintenance");
        thread.setDaemon(true);
        return thread;
    }

    /** The driver refuses servers below wire version 9, the version of MongoDB 4.4. */
    static final class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    /** The filter of this thread's aggregation, until its collection is read. */
    private static final ThreadLocal<Document> SELECTED = new ThreadLocal<>();

    /** The end of the time that this thread's read has, by `System.nanoTime`. */
    static final class Deadline {
        private static final Set<String> READS = Set.of("find", "aggregate", "count", "distinct");
        private static final ThreadLocal<Long> END = new ThreadLocal<>();

        static void start(String command, Document query) {
            if (!(query.get("maxTimeMS") instanceof Number limit) || limit.longValue() == 0) return;
            if (!READS.contains(command.toLowerCase(Locale.ROOT))) return;
            END.set(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limit.longValue()));
        }

        static void check() {
            Long end = END.get();
            if (end == null || System.nanoTime() - end < 0) return;
            throw new MongoServerError(50, "MaxTimeMSExpired", "operation exceeded time limit");
        }
    }

    /**
     * Makes writes durable. Writes run concurrently; a commit runs while no write does, so that it
     * never saves half a write, and it saves all writes that have ended.
     */
    static final class DurableBackend extends H2Backend {
        private static final Set<String> WRITES = Set.of(
            "insert", "update", "delete", "findandmodify", "create", "createindexes", "collmod",
            "drop", "dropindexes", "deleteindexes", "dropdatabase", "renamecollection");

        private final MVStore store;
        private final ReadWriteLock gate = new ReentrantReadWriteLock();
        private final AtomicLong ended = new AtomicLong();
        private final Object turn = new Object();
        private long saved;
        private volatile long wroteAt = System.nanoTime();
        private volatile int sweepEverySeconds = SWEEP_EVERY_S;
        /** Only the maintenance's thread uses these. */
        private long sweptAt = System.nanoTime();
        private long pauseUntil = System.nanoTime();
        private int stepBytes = STEP_BYTES_MIN;

        DurableBackend(MVStore store) {
            super(store);
            this.store = store;
        }

        @Override
        public Document handleCommand(
            Channel channel, String database, String command, Document query) {
            if (!writes(command, query)) {
                return handle(channel, database, command, query);
            }
            gate.readLock().lock();
            try {
                return handle(channel, database, command, query);
            } finally {
                long mine = ended.incrementAndGet();
                gate.readLock().unlock();
                save(mine);
            }
        }

        /** The library reads a whole collection for each aggregation, whatever it selects. */
        private Document handle(Channel channel, String database, String command, Document query) {
            if (command.equalsIgnoreCase("listDatabases")) return listDatabases();
            if (command.equalsIgnoreCase("setParameter")) return setParameter(query);
            if (command.equalsIgnoreCase("aggregate")) SELECTED.set(firstMatch(query));
            Shapes.record(database, command, query);
            Deadline.start(command, query);
            try {
                return super.handleCommand(channel, database, command, query);
            } finally {
                SELECTED.remove();
                Deadline.END.remove();
            }
        }

        private Document setParameter(Document query) {
            if (!(query.get("ttlMonitorSleepSecs") instanceof Number seconds)) {
                throw refused(72, "InvalidOptions", "the only parameter is ttlMonitorSleepSecs");
            }
            Document answer = new Document("was", sweepEverySeconds).append("ok", 1.0);
            sweepEverySeconds = seconds.intValue();
            return answer;
        }

        /**
         * The library opens every database for it, and reads all of its documents for the indexes.
         */
        private Document listDatabases() {
            List<Document> databases = new ArrayList<>();
            for (String name : new TreeSet<>(listDatabaseNames())) {
                databases.add(new Document("name", name).append("empty", false));
            }
            return new Document("databases", databases).append("ok", 1.0);
        }

        /** The filter of the first stage; null if it is no $match, or uses expressions. */
        private static Document firstMatch(Document query) {
            if (!(query.get("pipeline") instanceof List<?> stages) || stages.isEmpty()) return null;
            if (!(stages.get(0) instanceof Document stage)) return null;
            if (!(stage.get("$match") instanceof Document match)) return null;
            return match.containsKey("$expr") ? null : match;
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String name) {
            return new Database(name);
        }

        /** An inner class, since the library's constructor opens the collections of a database. */
        private final class Database extends H2Database {
            Database(String name) {
                super(name, getMvStore(), DurableBackend.this.getCursorRegistry());
                described(new Document())
                    .map(one -> String.valueOf(one.get("ns")).substring(name.length() + 1))
                    .distinct()
                    .forEach(this::followExpiries);
            }

            @Override
            protected MongoCollection<Object> openOrCreateCollection(
                String name, CollectionOptions options) {
                String fullName = getDatabaseName() + "." + name;
                return new IndexedCollection(
                    this,
                    name,
                    options,
                    getMvStore().openMap(Bson.DOCUMENTS + fullName, Bson.map(new Bson())),
                    getMvStore().openMap("meta." + fullName),
                    cursorRegistry);
            }

            @Override
            protected Index<Object> openOrCreateUniqueIndex(
                String collection, String name, List<IndexKey> keys, boolean sparse) {
                String map = getDatabaseName() + "." + collection + Bson.INDEX + name;
                return new UniqueIndex(
                    getMvStore().openMap(map, Bson.map(new Key())),
                    name, keys, sparse);
            }

            @Override
            protected Index<Object> openOrCreateSecondaryIndex(
                String collection, String name, List<IndexKey> keys, boolean sparse) {
                return new SecondaryIndex(name, keys, sparse);
            }

            @Override
            public Document handleCommand(
                Channel channel, String command, Document query, DatabaseResolver databases,
                Oplog oplog) {
                String name = String.valueOf(query.get(command));
                switch (command.toLowerCase(Locale.ROOT)) {
                    case "createindexes":
                        return createIndexes(name, query, missing ->
                            super.handleCommand(channel, command, missing, databases, oplog));
                    case "collmod":
                        return changeExpiry(name, query);
                    case "dropindexes":
                        return dropIndexes(name, query.get("index"));
                    case "update":
                        checkHints(name, query.get("updates"));
                        break;
                    case "delete":
                        checkHints(name, query.get("deletes"));
                        break;
                    default:
                        checkHint(name, query);
                }
                return super.handleCommand(channel, command, query, databases, oplog);
            }

            private void checkHints(String collection, Object operations) {
                if (!(operations instanceof List<?> all)) return;
                for (Object one : all) {
                    if (one instanceof Document operation) checkHint(collection, operation);
                }
            }

            private void checkHint(String name, Document operation) {
                Object hint = operation.get("hint");
                if (hint == null) return;
                if (hint instanceof Document key && key.containsKey("$natural")) return;
                IndexedCollection collection = collection(name);
                if (collection == null || collection.hasIndex(hint)) return;
                throw refused(2, "BadValue",
                    "error processing query: planner returned error :: caused by :: "
                        + "hint provided does not correspond to an existing index");
            }

            private IndexedCollection collection(String name) {
                return (IndexedCollection) resolveCollection(name, false);
            }

            private void requireCollection(String name) {
                if (collection(name) != null) return;
                throw refused(26, "NamespaceNotFound", "ns does not exist: " + name);
            }

            private Stream<Document> described(Document filter) {
                return indexes.get() == null
                    ? Stream.of()
                    : indexes.get().handleQueryAsStream(filter);
            }

            private List<Document> indexesOf(String collection) {
                String ns = getDatabaseName() + "." + collection;
                return described(new Document("ns", ns)).collect(Collectors.toList());
            }

            /** Creates all of them or none. The library compares only names. */
            private synchronized Document createIndexes(
                String collection, Document query, Function<Document, Document> create) {
                List<Document> before = indexesOf(collection);
                List<Document> present = new ArrayList<>(before);
                List<Document> missing = new ArrayList<>();
                for (Object one : (Collection<?>) query.get("indexes")) {
                    Document wanted = (Document) one;
                    if (!isOfIds(wanted) && Specs.exists(wanted, present)) continue;
                    present.add(wanted);
                    missing.add(wanted);
                }
                if (missing.isEmpty()) {
                    return new Document("numIndexesBefore", before.size())
                        .append("numIndexesAfter", before.size())
                        .append("note", "all indexes already exist")
                        .append("ok", 1.0);
                }
                try {
                    return create.apply(new Document(query).append("indexes", missing));
                } catch (MongoServerError e) {
                    for (Document one : indexesOf(collection)) {
                        if (!isOfIds(one) && !before.contains(one)) drop(collection, one);
                    }
                    throw e;
                } finally {
                    followExpiries(collection);
                }
            }

            /** The library would forget the indexes of this name in all collections. */
            private synchronized Document dropIndexes(String collection, Object wanted) {
                requireCollection(collection);
                List<Document> present = indexesOf(collection);
                Collection<?> all = wanted instanceof Collection<?> many ? many : List.of(wanted);
                List<Document> found = present.stream()
                    .filter(one -> !isOfIds(one))
                    .filter(one -> all.stream().anyMatch(
                        other -> other.equals("*") || Specs.isNamed(one, other)))
                    .collect(Collectors.toList());
                if (found.isEmpty() && !wanted.equals("*")) {
                    throw refused(
                        27, "IndexNotFound", "index not found with name [" + wanted + "]");
                }
                for (Document one : found) drop(collection, one);
                followExpiries(collection);
                return new Document("nIndexesWas", present.size()).append("ok", 1.0);
            }

            private boolean isOfIds(Document index) {
                return isPrimaryKeyIndex((Document) index.get("key"));
            }

            private void drop(String collection, Document index) {
                dropIndex(resolveCollection(collection, true), (String) index.get("name"));
                indexes.get().deleteDocuments(index, 1);
            }

            private synchronized Document changeExpiry(String collection, Document query) {
                requireCollection(collection);
                if (!(query.get("index") instanceof Document wanted)
                    || !(wanted.get("expireAfterSeconds") instanceof Number seconds)) {
                    throw refused(
                        72, "InvalidOptions", "collMod changes only index.expireAfterSeconds");
                }
                Object named = wanted.containsKey("name")
                    ? wanted.get("name")
                    : wanted.get("keyPattern");
                Document index = indexesOf(collection).stream()
                    .filter(one -> Specs.isNamed(one, named))
                    .findFirst()
                    .orElseThrow(
                        () -> refused(27, "IndexNotFound", "cannot find index " + named));
                Specs.checkSingleField(72, "InvalidOptions", index);
                Object old = index.get("expireAfterSeconds");
                synchronized (indexes.get()) {
                    indexes.get().deleteDocuments(index, 1);
                    indexes.get().addDocument(index.clone().append("expireAfterSeconds", seconds));
                }
                followExpiries(collection);
                Document answer = new Document();
                if (!Specs.isSame(old, seconds)) {
                    answer.putIfNotNull("expireAfterSeconds_old", old);
                    answer.append("expireAfterSeconds_new", seconds);
                }
                return answer.append("ok", 1.0);
            }

            private void followExpiries(String name) {
                IndexedCollection collection = collection(name);
                if (collection == null) return;
                collection.follow(indexesOf(name).stream()
                    .filter(one -> one.get("expireAfterSeconds") instanceof Number)
                    .map(Expiry::new)
                    .collect(Collectors.toList()));
            }
        }

        private static boolean writes(String command, Document query) {
            String name = command.toLowerCase(Locale.ROOT);
            if (name.equals("aggregate")) {
                String pipeline = String.valueOf(query.get("pipeline"));
                return pipeline.contains("$out") || pipeline.contains("$merge");
            }
            return WRITES.contains(name);
        }

        /** Group commit: a waiting thread usually finds its write saved by the previous commit. */
        private void save(long mine) {
            synchronized (turn) {
                if (saved >= mine) return;
                gate.writeLock().lock();
                try {
                    long all = ended.get();
                    store.commit();
                    saved = all;
                    wroteAt = System.nanoTime();
                } finally {
                    gate.writeLock().unlock();
                }
            }
        }

        void maintain() {
            compact();
            if (System.nanoTime() - sweptAt < TimeUnit.SECONDS.toNanos(sweepEverySeconds)) return;
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SWEEP_MS);
            for (IndexedCollection collection : IndexedCollection.EXPIRING) {
                for (Expiry expiry : collection.expiries) {
                    try {
                        sweep(collection, expiry, until);
                    } catch (RuntimeException e) {
                        synchronized (collection) {
                            expiry.restart();
                        }
                        // It may have been dropped meanwhile.
                        if (!IndexedCollection.EXPIRING.contains(collection)) continue;
                        System.err.println("failed to remove expired documents, will retry: " + e);
                    }
                }
            }
            sweptAt = System.nanoTime();
        }

        private void sweep(IndexedCollection collection, Expiry expiry, long until) {
            List<Object> expired = collection.findExpired(expiry, until);
            for (int from = 0; from < expired.size(); from += SWEEP_BATCH) {
                int to = Math.min(from + SWEEP_BATCH, expired.size());
                gate.writeLock().lock();
                try {
                    if (store.isClosed()) return;
                    collection.removeExpired(expiry, expired.subList(from, to));
                    store.commit();
                } finally {
                    gate.writeLock().unlock();
                }
            }
        }

        private void compact() {
            boolean idle = System.nanoTime() - wroteAt > TimeUnit.MILLISECONDS.toNanos(IDLE_MS);
            if (System.nanoTime() < pauseUntil) return;
            if (!idle && store.getFileStore().size() < FILE_BYTES_MAX) return;
            gate.writeLock().lock();
            long started = System.nanoTime();
            boolean compacted = false;
            try {
                if (store.isClosed()) return;
                compacted = store.compact(COMPACT_BELOW_PERCENT, stepBytes);
                if (compacted) store.commit();
            } catch (RuntimeException e) {
                System.err.println("failed to compact the store, will retry: " + e);
            } finally {
                gate.writeLock().unlock();
                long took = System.nanoTime() - started;
                pauseUntil = started + (1 + PAUSE_TIMES) * took;
                boolean late = took > TimeUnit.MILLISECONDS.toNanos(STEP_MS);
                int next = !compacted ? 0 : late ? stepBytes / 2 : stepBytes * 2;
                stepBytes = Math.max(STEP_BYTES_MIN, Math.min(next, STEP_BYTES_MAX));
            }
        }
    }

    /** Converts each item when it is next. */
    static <F, T> Iterator<T> converted(Iterator<F> all, Function<F, T> convert) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return all.hasNext();
            }

            @Override
            public T next() {
                return convert.apply(all.next());
            }
        };
    }

    static MongoServerError refused(int code, String name, String message) {
        return new MongoServerError(code, name, message);
    }

    /** Compares the descriptions of indexes by the rules of MongoDB 6. */
    static final class Specs {
        /** Two indexes on the same key may differ in these, under different names. */
        private static final Set<String> IDENTITY =
            Set.of("key", "unique", "sparse", "partialFilterExpression", "collation");
        private static final Set<String> NOT_COMPARED =
            Set.of("name", "ns", "v", "background", "hidden");

        /** Refuses an index that conflicts with one of those present. */
        static boolean exists(Document wanted, List<Document> present) {
            if (wanted.containsKey("expireAfterSeconds")) {
                checkSingleField(67, "CannotCreateIndex", wanted);
            }
            for (Document one : present) {
                if (!isNamed(one, wanted.get("name"))) continue;
                if (!isEquivalent(wanted, one)) {
                    throw conflict(86, "IndexKeySpecsConflict", "the same name", wanted, one);
                }
                if (isIdentical(wanted, one)) return true;
                throw conflict(85, "IndexOptionsConflict", "other options", wanted, one);
            }
            for (Document one : present) {
                if (!isEquivalent(wanted, one)) continue;
                throw conflict(85, "IndexOptionsConflict", "a different name", wanted, one);
            }
            return false;
        }

        private static MongoServerError conflict(
            int code, String name, String how, Document wanted, Document present) {
            return refused(code, name,
                "An index exists with " + how + ": requested " + wanted + ", existing " + present);
        }

        private static boolean isEquivalent(Document one, Document other) {
            return isSame(IDENTITY, one, other);
        }

        private static boolean isIdentical(Document one, Document other) {
            Set<String> options = new HashSet<>(one.keySet());
            options.addAll(other.keySet());
            options.removeAll(NOT_COMPARED);
            return isSame(options, one, other);
        }

        private static boolean isSame(Set<String> fields, Document one, Document other) {
            return fields.stream().allMatch(field -> isSame(one.get(field), other.get(field)));
        }

        /** An option that is `false` is the same as an absent one. */
        static boolean isSame(Object one, Object other) {
            return Objects.equals(
                Ranges.normalized(Boolean.FALSE.equals(one) ? null : one),
                Ranges.normalized(Boolean.FALSE.equals(other) ? null : other));
        }

        /** `wanted` is a name or a key. */
        static boolean isNamed(Document index, Object wanted) {
            return isSame(index.get(wanted instanceof Document ? "key" : "name"), wanted);
        }

        static void checkSingleField(int code, String name, Document index) {
            if (((Document) index.get("key")).size() == 1) return;
            throw refused(code, name, "TTL indexes are single-field indexes: " + index);
        }
    }

    /**
     * A TTL index. Its collection is read only when a document can have expired: a write compares
     * its date with the earliest one.
     */
    static final class Expiry {
        private final String field;
        private final long afterMs;
        /** No document has an earlier date that a sweep has yet to find; unknown at first. */
        private volatile long earliest = Long.MIN_VALUE;
        /** The sweep that has begun: the last position that it has read, and the earliest date. */
        private Object last;
        private long earliestRead;

        Expiry(Document index) {
            field = ((Document) index.get("key")).keySet().iterator().next();
            Number seconds = (Number) index.get("expireAfterSeconds");
            afterMs = TimeUnit.SECONDS.toMillis(seconds.longValue());
        }

        /** Under the lock of its collection only. */
        void note(Document document) {
            earliest = Math.min(earliest, dateOf(document));
        }

        /** Under the lock of its collection only. */
        void restart() {
            last = null;
            earliest = Long.MIN_VALUE;
        }

        boolean isDue() {
            return last != null || earliest <= limit();
        }

        boolean isExpired(Document document) {
            return dateOf(document) <= limit();
        }

        private long limit() {
            return System.currentTimeMillis() - afterMs;
        }

        /** The earliest of several dates; no document without one expires. */
        private long dateOf(Document document) {
            Object value = Utils.getSubdocumentValueCollectionAware(document, field);
            if (value instanceof Instant date) return date.toEpochMilli();
            if (!(value instanceof Collection<?> all)) return Long.MAX_VALUE;
            return all.stream()
                .filter(Instant.class::isInstance)
                .mapToLong(date -> ((Instant) date).toEpochMilli())
                .min()
                .orElse(Long.MAX_VALUE);
        }
    }

    /**
     * Writes the shape of each distinct query to the file that BMG_QUERIES names, a JSON object a
     * line: the fields and operators without their values. Tests compare them with the indexes.
     */
    static final class Shapes {
        private static final String FILE = System.getenv("BMG_QUERIES");
        private static final int SHAPES_MAX = 20_000;
        private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

        static void record(String database, String command, Document query) {
            if (FILE == null) return;
            switch (command.toLowerCase(Locale.ROOT)) {
                case "find" -> write(database, query.get("find"), query, query.get("filter"));
                case "distinct" -> write(database, query.get("distinct"), query, query.get("query"));
                case "findandmodify" ->
                    write(database, query.get("findAndModify"), query, query.get("query"));
                case "update" -> each(database, query.get("update"), query.get("updates"));
                case "delete" -> each(database, query.get("delete"), query.get("deletes"));
                case "aggregate" -> write(
                    database,
                    query.get("aggregate"),
                    query,
                    query.get("pipeline") instanceof List<?> stages && !stages.isEmpty()
                        && stages.get(0) instanceof Document first ? first.get("$match") : null);
                default -> { }
            }
        }

        private static void each(String database, Object collection, Object operations) {
            if (!(operations instanceof List<?> all)) return;
            for (Object one : all) {
                if (one instanceof Document operation) {
                    write(database, collection, operation, operation.get("q"));
                }
            }
        }

        private static void write(String database, Object collection, Document query, Object filter) {
            String shape = "{\"database\":" + text(database.replaceFirst(".*-", ""))
                + ",\"collection\":" + text(String.valueOf(collection))
                + ",\"filter\":" + (filter instanceof Document ? shapeOf(filter) : "{}")
                + ",\"sort\":" + (query.get("sort") instanceof Document sort ? order(sort) : "[]")
                + ",\"limited\":" + (query.get("limit") != null) + "}";
            if (SEEN.size() >= SHAPES_MAX || !SEEN.add(shape)) return;
            try {
                Files.writeString(
                    Path.of(FILE), shape + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                System.err.println("failed to record a query: " + e);
            }
        }

        private static String shapeOf(Object value) {
            if (value instanceof Document document) {
                List<String> fields = new ArrayList<>();
                for (Entry<String, Object> field : document.entrySet()) {
                    boolean plain = field.getKey().equals("$in") || field.getKey().equals("$nin");
                    String shape = field.getKey().equals("$exists")
                        ? String.valueOf(field.getValue())
                        : plain ? "1" : shapeOf(field.getValue());
                    fields.add(text(field.getKey()) + ":" + shape);
                }
                return "{" + String.join(",", fields) + "}";
            }
            if (value instanceof List<?> all && all.stream().anyMatch(Document.class::isInstance)) {
                Set<String> shapes = new TreeSet<>();
                for (Object one : all) shapes.add(shapeOf(one));
                return "[" + String.join(",", shapes) + "]";
            }
            return value == null ? "null" : "1";
        }

        /** Pairs, because the order of an object's numeric fields is lost in JSON. */
        private static String order(Document sort) {
            List<String> fields = new ArrayList<>();
            for (Entry<String, Object> field : sort.entrySet()) {
                boolean up = ((Number) field.getValue()).intValue() > 0;
                fields.add("[" + text(field.getKey()) + "," + (up ? 1 : -1) + "]");
            }
            return "[" + String.join(",", fields) + "]";
        }

        private static String text(String value) {
            return "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        }
    }

    /** Documents, and positions in a collection, as BSON instead of Java's serialisation. */
    static final class Bson extends BasicDataType<Object> {
        static final String DOCUMENTS = "databases.";
        static final String INDEX = "._index_";
        /** The version of a file, which 2.10.0 checks: it converts one without a version. */
        static final int FORMAT = 1;
        /**
         * BSON's type of a string, and a document with an unnamed one: lengths, type, names, ends.
         */
        private static final byte TEXT = 0x02;
        private static final int TEXT_START = 4 + 1 + 1 + 4;
        private static final int TEXT_BYTES = TEXT_START + 2;
        private static final int OBJECT_BYTES = 24;
        private static final int ENTRY_BYTES = 80;

        static <K, V> MVMap.Builder<K, V> map(BasicDataType<?> keys) {
            return new MVMap.Builder<K, V>().keyType(cast(keys)).valueType(cast(new Bson()));
        }

        @SuppressWarnings("unchecked")
        private static <T> BasicDataType<T> cast(BasicDataType<?> type) {
            return (BasicDataType<T>) type;
        }

        static ByteBuf encode(Object value) {
            ByteBuf bytes = Unpooled.buffer();
            BsonEncoder.encodeDocument(
                new Document("", value instanceof Missing ? null : value), bytes);
            return bytes;
        }

        @Override
        public int compare(Object one, Object other) {
            if (one instanceof String text && other instanceof String more) {
                return text.compareTo(more);
            }
            return Arrays.compareUnsigned(Key.of(one), Key.of(other));
        }

        /** An estimate, in bytes of the heap. */
        @Override
        public int getMemory(Object value) {
            if (value instanceof String text) return OBJECT_BYTES + text.length();
            if (value instanceof BinData data) return OBJECT_BYTES + data.getData().length;
            int bytes = OBJECT_BYTES;
            if (value instanceof Map<?, ?> fields) {
                for (Object field : fields.values()) bytes += ENTRY_BYTES + getMemory(field);
            } else if (value instanceof Collection<?> items) {
                for (Object item : items) bytes += getMemory(item);
            }
            return bytes;
        }

        @Override
        public void write(WriteBuffer out, Object value) {
            if (value instanceof String) writeText(out, (String) value);
            else out.put(encode(value).nioBuffer());
        }

        /**
         * A document with one text, like `encode`, at a fraction of its cost: nearly all values are
         * ids, and a commit writes all those of each page that has changed.
         */
        private static void writeText(WriteBuffer out, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            out.putInt(Integer.reverseBytes(TEXT_BYTES + bytes.length))
                .put(TEXT)
                .put((byte) 0)
                .putInt(Integer.reverseBytes(bytes.length + 1))
                .put(bytes)
                .put((byte) 0)
                .put((byte) 0);
        }

        /**
         * The text of such a document, or null if it holds another value; `in` stays where it is
         * then.
         */
        private static String readText(ByteBuffer in) {
            int start = in.position();
            if (in.get(start + Integer.BYTES) != TEXT) return null;
            byte[] bytes = new byte[Integer.reverseBytes(in.getInt(start)) - TEXT_BYTES];
            in.position(start + TEXT_START);
            in.get(bytes);
            in.position(in.position() + 2);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public Object read(ByteBuffer in) {
            String text = readText(in);
            if (text != null) return text;
            ByteBuf bytes = Unpooled.wrappedBuffer(in);
            Object value = BsonDecoder.decodeBson(bytes).get("");
            in.position(in.position() + bytes.readerIndex());
            return Missing.ofNullable(value);
        }

        @Override
        public Object[] createStorage(int size) {
            return new Object[size];
        }
    }

    /**
     * The values of an index as bytes that sort like the values: a tag for the type, then the
     * value. None is the beginning of another, so that a range of the first fields has all
     * documents with these fields.
     */
    static final class Key extends BasicDataType<byte[]> {
        private static final int NOTHING = 0x05;
        private static final int NUMBER = 0x10;
        private static final int STRING = 0x20;
        private static final int OBJECT_ID = 0x30;
        private static final int DATE = 0x40;
        private static final int OTHER = 0x50;

        static byte[] of(Object value) {
            return ofAll(List.of(), value);
        }

        static byte[] ofAll(Iterable<?> values, Object... more) {
            ByteBuf out = Unpooled.buffer();
            for (Object value : values) write(out, value);
            for (Object value : more) write(out, value);
            return bytes(out);
        }

        static byte[] after(byte[] first, Object value) {
            ByteBuf out = Unpooled.buffer().writeBytes(first);
            write(out, value);
            return bytes(out);
        }

        @Override
        public int compare(byte[] one, byte[] other) {
            return Arrays.compareUnsigned(one, other);
        }

        @Override
        public int getMemory(byte[] key) {
            return ByteArrayDataType.INSTANCE.getMemory(key);
        }

        @Override
        public void write(WriteBuffer out, byte[] key) {
            ByteArrayDataType.INSTANCE.write(out, key);
        }

        @Override
        public byte[] read(ByteBuffer in) {
            return ByteArrayDataType.INSTANCE.read(in);
        }

        @Override
        public byte[][] createStorage(int size) {
            return new byte[size][];
        }

        private static byte[] bytes(ByteBuf out) {
            return Arrays.copyOf(out.array(), out.writerIndex());
        }

        /** False if the bytes of the value do not sort as the library compares. */
        static boolean sorts(Object value) {
            return Missing.isNullOrMissing(value) || isNumber(value) || value instanceof String
                || value instanceof ObjectId || value instanceof Instant;
        }

        private static void write(ByteBuf out, Object value) {
            if (Missing.isNullOrMissing(value)) {
                out.writeByte(NOTHING);
            } else if (isNumber(value)) {
                // The second number orders integers that a double cannot tell apart.
                Number number = (Number) value;
                long bits = Double.doubleToLongBits(number.doubleValue() + 0.0);
                out.writeByte(NUMBER);
                out.writeLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
                out.writeLong(number.longValue() ^ Long.MIN_VALUE);
            } else if (value instanceof String) {
                out.writeByte(STRING);
                for (byte one : ((String) value).getBytes(StandardCharsets.UTF_8)) {
                    out.writeByte(one);
                    if (one == 0) out.writeByte(0xff);
                }
                out.writeByte(0).writeByte(0);
            } else if (value instanceof ObjectId) {
                out.writeByte(OBJECT_ID).writeBytes(((ObjectId) value).toByteArray());
            } else if (value instanceof Instant) {
                out.writeByte(DATE);
                out.writeLong(((Instant) value).toEpochMilli() ^ Long.MIN_VALUE);
            } else {
                out.writeByte(OTHER).writeBytes(Bson.encode(value));
            }
        }
    }

    static boolean isNumber(Object value) {
        return value instanceof Integer || value instanceof Long || value instanceof Double;
    }

    /**
     * The part of an index that a query can match: for each combination of values, the first key,
     * the beginning of the last one, and what both begin with. The documents in it are compared
     * with the whole query afterwards.
     */
    static final class Ranges {
        private static final List<byte[][]> ALL =
            List.<byte[][]>of(new byte[][] {new byte[0], new byte[0], new byte[0]});
        static final Ranges NONE = new Ranges(List.of(), 0, true);

        final List<byte[][]> ranges;
        /** How many of the index's fields, from the first on, the query restricts. */
        final int fields;
        /** The query gives values of these fields, and no bound. */
        final boolean exact;

        private Ranges(List<byte[][]> ranges, int fields, boolean exact) {
            this.ranges = ranges;
            this.fields = fields;
            this.exact = exact;
        }

        /**
         * Returns the conditions of a query, those inside of `$and` and `$elemMatch` too. If two on
         * a field cannot be one expression, the first stands: the documents are compared with the
         * whole query afterwards.
         */
        static Document joined(Document query) {
            Document joined = new Document();
            join(joined, "", query);
            return joined;
        }

        private static void join(Document joined, String parent, Document query) {
            for (Entry<String, Object> one : query.entrySet()) {
                String field = parent + one.getKey();
                Object wanted = one.getValue();
                if (one.getKey().equals("$and") && wanted instanceof Collection<?> parts) {
                    for (Object part : parts) join(joined, parent, (Document) part);
                } else if (!joined.containsKey(field)) {
                    joined.put(field, wanted);
                } else if (joined.get(field) instanceof Document first && isExpression(first)
                    && wanted instanceof Document other && isExpression(other)) {
                    Document both = new Document(other);
                    both.putAll(first);
                    joined.put(field, both);
                }
                if (wanted instanceof Document expression
                    && expression.get("$elemMatch") instanceof Document element) {
                    join(joined, field + ".", element);
                }
            }
        }

        /** How many of the index's fields, from the first on, have given values. */
        int given() {
            return exact ? fields : fields - 1;
        }

        /** `arrays`: a document may have several values of a field. */
        static Ranges of(Index<Object> index, Document query, boolean arrays) {
            List<byte[]> found = List.of(new byte[0]);
            int fields = 0;
            Set<String> parents = new HashSet<>();
            for (IndexKey key : index.getKeys()) {
                // Two fields may match in different elements of an array; the index has them
                // together.
                String[] path = key.getKey().split("\\.", 2);
                if (path.length > 1 && !parents.add(path[0])) break;
                Object wanted = query.get(key.getKey());
                var secondary = index instanceof SecondaryIndex one ? one : null;
                if (secondary != null && secondary.hasAll(wanted)) return new Ranges(ALL, 1, false);
                boolean none = secondary != null && secondary.hasNone(wanted, path);
                List<Object> values = none ? List.of(Missing.getInstance()) : equalTo(wanted);
                if (values.isEmpty()) return beside(found, fields, wanted, arrays);
                found = found.stream()
                    .flatMap(first -> values.stream().map(value -> Key.after(first, value)))
                    .collect(Collectors.toList());
                fields++;
            }
            return of(found, found, found, fields);
        }

        /** Adds the bounds of the next field, if the query has any. */
        private static Ranges beside(
            List<byte[]> found, int fields, Object wanted, boolean arrays) {
            Object low = bound(wanted, "$gte", "$gt");
            Object high = bound(wanted, "$lte", "$lt");
            if (low == null && high == null) return of(found, found, found, fields);
            // An array may have one element for each bound, so only one of them counts.
            if (arrays && low != null) high = null;
            List<byte[]> from = after(found, low == null ? high : low);
            List<byte[]> to = after(found, high == null ? low : high);
            if (low == null) from = typeOf(from, found);
            if (high == null) to = typeOf(to, found);
            return of(found, from, to, fields + 1);
        }

        private static List<byte[]> after(List<byte[]> found, Object value) {
            return found.stream().map(first -> Key.after(first, value)).collect(Collectors.toList());
        }

        /** Returns the prefix that every value of the type has. */
        private static List<byte[]> typeOf(List<byte[]> keys, List<byte[]> found) {
            List<byte[]> types = new ArrayList<>();
            for (int i = 0; i < keys.size(); i++) {
                types.add(Arrays.copyOf(keys.get(i), found.get(i).length + 1));
            }
            return types;
        }

        private static Ranges of(
            List<byte[]> found, List<byte[]> low, List<byte[]> high, int fields) {
            if (fields == 0) return NONE;
            List<byte[][]> ranges = new ArrayList<>();
            for (int i = 0; i < low.size(); i++) {
                ranges.add(new byte[][] {low.get(i), high.get(i), found.get(i)});
            }
            return new Ranges(ranges, fields, low == high);
        }

        /** The values that the query allows for a field; empty if it does not list them. */
        private static List<Object> equalTo(Object wanted) {
            Collection<?> values = List.of();
            if (wanted instanceof Document expression && isExpression(expression)) {
                if (expression.get("$in") instanceof Collection<?> listed) {
                    values = listed;
                } else if (expression.get("$eq") != null) {
                    values = List.of(expression.get("$eq"));
                }
            } else if (wanted != null) {
                values = List.of(wanted);
            }
            if (!values.stream().allMatch(Ranges::isPlain)) return List.of();
            return values.stream().map(Ranges::normalized).distinct().collect(Collectors.toList());
        }

        private static boolean isExpression(Document document) {
            return document.keySet().stream().anyMatch(key -> key.startsWith("$"));
        }

        /** Nothing, arrays and patterns match more than their own key. */
        private static boolean isPlain(Object value) {
            return !Missing.isNullOrMissing(value)
                && !(value instanceof Collection)
                && !BsonRegularExpression.isRegularExpression(value)
                && !(value instanceof Document && isExpression((Document) value));
        }

        /** Behind every key that begins as this one: no value has these bytes. */
        static byte[] end(byte[] key) {
            byte[] end = Arrays.copyOf(key, key.length + 8);
            Arrays.fill(end, key.length, end.length, (byte) 0xff);
            return end;
        }

        static Object normalized(Object value) {
            return new KeyValue(value).normalized().get(0);
        }

        /** Only if bytes sort as the library compares: it compares strings by their UTF-16. */
        private static Object bound(Object wanted, String... operators) {
            if (!(wanted instanceof Document)) return null;
            for (String operator : operators) {
                Object value = ((Document) wanted).get(operator);
                boolean sorts = value instanceof Instant || value instanceof ObjectId
                    || isNumber(value)
                    || value instanceof String && ((String) value).chars().allMatch(c -> c < 128);
                if (sorts) return value;
            }
            return null;
        }

        Set<Object> positions(Function<byte[], Iterator<Entry<byte[], Object>>> from) {
            Set<Object> positions = new LinkedHashSet<>();
            for (byte[][] range : ranges) {
                byte[] high = range[1];
                Iterator<Entry<byte[], Object>> entries = from.apply(range[0]);
                while (entries.hasNext()) {
                    Entry<byte[], Object> entry = entries.next();
                    byte[] key = entry.getKey();
                    int length = Math.min(key.length, high.length);
                    if (Arrays.compareUnsigned(key, 0, length, high, 0, high.length) > 0) break;
                    positions.add(entry.getValue());
                }
            }
            return positions;
        }
    }

    /** Makes the keys of a document as MongoDB does: one for each element of an array. */
    static final class Keys {
        /** The value of an empty array. Stored documents have no field that begins with `$`. */
        private static final Document UNDEFINED = new Document("$undefined", true);

        /** A sparse index has none for a document without any of its fields. */
        static Set<KeyValue> of(String[] paths, boolean sparse, Document document) {
            Set<KeyValue> keys = new LinkedHashSet<>();
            add(keys, paths, new Object[paths.length], sparse, document);
            return keys;
        }

        /** `paths`: from this document on; null if the value has been found already. */
        private static void add(
            Set<KeyValue> keys, String[] paths, Object[] values, boolean sparse,
            Document document) {
            String[] inArray = new String[paths.length];
            Collection<?> array = null;
            for (int field = 0; field < paths.length; field++) {
                String path = paths[field];
                if (path == null) continue;
                Object value = document;
                while (!path.isEmpty() && value instanceof Document parent) {
                    int dot = path.indexOf('.');
                    value = parent.getOrMissing(dot < 0 ? path : path.substring(0, dot));
                    path = dot < 0 ? "" : path.substring(dot + 1);
                }
                if (value instanceof Collection<?> found) {
                    if (array != null && array != found) {
                        throw new CannotIndexParallelArraysError(Arrays.asList(paths));
                    }
                    array = found;
                    inArray[field] = path;
                } else {
                    values[field] = path.isEmpty() ? value : Missing.getInstance();
                }
            }
            if (array == null) {
                if (sparse && Arrays.stream(values).allMatch(Missing.class::isInstance)) return;
                keys.add(new KeyValue(values).normalized());
                return;
            }
            for (Object element : array.isEmpty() ? List.of(UNDEFINED) : array) {
                String[] left = inArray.clone();
                Object[] found = values.clone();
                for (int field = 0; field < left.length; field++) {
                    if (!"".equals(left[field])) continue;
                    left[field] = null;
                    found[field] = element;
                }
                Document inside = element instanceof Document one ? one : new Document();
                add(keys, left, found, sparse, inside);
            }
        }
    }

    abstract static class RangeIndex extends Index<Object> {
        final String[] paths;

        RangeIndex(String name, List<IndexKey> keys) {
            // Sparse, for the library: a document may have no position in it.
            super(name, keys, true);
            paths = keys.stream().map(IndexKey::getKey).toArray(String[]::new);
        }

        abstract Ranges ranges(Document query);

        abstract Set<Object> positions(Ranges ranges);

        boolean isOfIds() {
            return paths.length == 1 && paths[0].equals("_id");
        }

        @Override
        public boolean canHandle(Document query) {
            return ranges(query).fields > 0;
        }

        @Override
        public Iterable<Object> getPositions(Document query) {
            return positions(ranges(query));
        }

        @Override
        public long getDataSize() {
            return getCount();
        }

        @Override
        public void drop() {}
    }

    static final class UniqueIndex extends RangeIndex {
        private final MVMap<byte[], Object> positions;
        private final boolean sparse;

        UniqueIndex(
            MVMap<byte[], Object> positions, String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys);
            this.positions = positions;
            this.sparse = sparse;
        }

        @Override
        public boolean isUnique() {
            return true;
        }

        /** All fields must be given, since one document is expected then. An id is no array. */
        @Override
        Ranges ranges(Document query) {
            Ranges ranges = Ranges.of(this, query, !isOfIds());
            return ranges.fields == paths.length ? ranges : Ranges.NONE;
        }

        /** The positions of a range in the order of its keys, each read when it is next. */
        Iterator<Object> inOrder(byte[][] range, boolean backwards) {
            byte[] end = Ranges.end(range[1]);
            Cursor<byte[], Object> keys = backwards
                ? positions.cursor(end, range[0], true)
                : positions.cursor(range[0], end, false);
            return converted(keys, key -> keys.getValue());
        }

        @Override
        Set<Object> positions(Ranges ranges) {
            return ranges.positions(low -> {
                Cursor<byte[], Object> keys = positions.cursor(low);
                return converted(keys, key -> Map.entry(key, keys.getValue()));
            });
        }

        private Set<KeyValue> keysOf(Document document) {
            return Keys.of(paths, sparse, document);
        }

        @Override
        public void checkAdd(Document document, MongoCollection<Object> collection) {
            for (KeyValue key : keysOf(document)) {
                if (positions.containsKey(Key.ofAll(key))) throw duplicate(key, collection);
            }
        }

        @Override
        public void add(
            Document document, Object position, MongoCollection<Object> collection) {
            Object stored = Missing.ofNullable(position);
            for (KeyValue key : keysOf(document)) {
                boolean added = positions.putIfAbsent(Key.ofAll(key), stored) == null;
                if (!added) throw duplicate(key, collection);
            }
        }

        private DuplicateKeyError duplicate(KeyValue key, MongoCollection<Object> collection) {
            return new DuplicateKeyError(this, collection, getKeys(), key);
        }

        @Override
        public Object remove(Document document) {
            Object position = null;
            for (KeyValue key : keysOf(document)) {
                Object removed = positions.remove(Key.ofAll(key));
                if (removed != null) position = removed;
            }
            return position;
        }

        @Override
        public void checkUpdate(
            Document before, Document after, MongoCollection<Object> collection) {
            Set<KeyValue> old = keysOf(before);
            for (KeyValue key : keysOf(after)) {
                if (old.contains(key)) continue;
                if (positions.containsKey(Key.ofAll(key))) throw duplicate(key, collection);
            }
        }

        @Override
        public void updateInPlace(
            Document before, Document after, Object position, MongoCollection<Object> collection) {
            if (keysOf(before).equals(keysOf(after))) return;
            remove(before);
            add(after, position, collection);
        }

        /** The position is the id, so no other index has to be read for it. */
        @Override
        public Object getPosition(Document document) {
            return isOfIds() ? positions.get(Key.ofAll(keysOf(document).iterator().next())) : null;
        }

        /** Removes what an index that could not be built has already. */
        void clear() {
            positions.clear();
        }

        @Override
        public long getCount() {
            return positions.sizeAsLong();
        }
    }

    /**
     * Built by the first query that can use it, and kept in memory: an index that no query uses
     * costs nothing.
     */
    static final class SecondaryIndex extends RangeIndex {
        /** Used under the lock of its collection only. */
        private NavigableMap<byte[], Object> positions;
        /** A document has had several values of a field since it was built. */
        private boolean arrays;
        /** A document has had a value whose bytes do not sort as the library compares. */
        private boolean unsorted;
        private final boolean sparse;

        SecondaryIndex(String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys);
            this.sparse = sparse && keys.size() == 1;
        }

        /** True if the index has exactly the documents that the condition wants. */
        boolean hasAll(Object wanted) {
            return sparse && wanted instanceof Document one && one.size() == 1
                && Boolean.TRUE.equals(one.get("$exists"));
        }

        /** True if the documents that the condition wants have no value of the field. */
        boolean hasNone(Object wanted, String[] path) {
            return !sparse && path.length == 1 && wanted instanceof Document one
                && one.size() == 1 && Boolean.FALSE.equals(one.get("$exists"));
        }

        /**
         * True if the index has the order behind the fields with given values, or there is none.
         * Its keys ascend, whatever their declared direction.
         */
        boolean serves(Ranges ranges, Document order) {
            if (order.isEmpty()) return true;
            if (arrays || unsorted) return false;
            int at = ranges.given();
            Integer direction = null;
            for (Entry<String, Object> field : order.entrySet()) {
                if (!(field.getValue() instanceof Number number)) return false;
                int wanted = Integer.signum(number.intValue());
                boolean same = ranges.ranges.size() == 1
                    && Arrays.asList(paths).subList(0, ranges.given()).contains(field.getKey());
                if (same) continue;
                if (at == paths.length || !paths[at++].equals(field.getKey())) return false;
                if (direction != null && direction != wanted) return false;
                direction = wanted;
            }
            return true;
        }

        /** Returns positions in the order of the keys behind the given values, read one by one. */
        Iterator<Object> inOrder(Ranges ranges, boolean backwards) {
            Comparator<Read> keys = Comparator.comparing(
                one -> one, (one, other) -> Arrays.compareUnsigned(
                    one.key, one.from, one.key.length, other.key, other.from, other.key.length));
            PriorityQueue<Read> reads =
                new PriorityQueue<>(backwards ? keys.reversed() : keys);
            for (byte[][] range : ranges.ranges) {
                byte[] end = Ranges.end(range[1]);
                if (Arrays.compareUnsigned(range[0], end) > 0) continue;
                var all = positions.subMap(range[0], true, end, true);
                Read read = new Read(
                    (backwards ? all.descendingMap() : all).entrySet().iterator(), range[2].length);
                if (read.advance()) reads.add(read);
            }
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return !reads.isEmpty();
                }

                @Override
                public Object next() {
                    Read read = reads.remove();
                    Object position = read.position;
                    if (read.advance()) reads.add(read);
                    return position;
                }
            };
        }

        /** A range that is being read. Its keys are compared with those of others after `from`. */
        private static final class Read {
            private final Iterator<Entry<byte[], Object>> entries;
            private final int from;
            private byte[] key;
            private Object position;

            Read(Iterator<Entry<byte[], Object>> entries, int from) {
                this.entries = entries;
                this.from = from;
            }

            boolean advance() {
                if (!entries.hasNext()) return false;
                Entry<byte[], Object> next = entries.next();
                key = next.getKey();
                position = next.getValue();
                return true;
            }
        }

        @Override
        Ranges ranges(Document query) {
            return Ranges.of(this, query, positions == null || arrays);
        }

        @Override
        Set<Object> positions(Ranges ranges) {
            return ranges.positions(low -> positions.tailMap(low).entrySet().iterator());
        }

        void build(Stream<DocumentWithPosition<Object>> documents) {
            if (positions != null) return;
            positions = new TreeMap<>(Arrays::compareUnsigned);
            documents.forEach(one -> add(one.getDocument(), one.getPosition(), null));
        }

        @Override
        public void add(
            Document document, Object position, MongoCollection<Object> collection) {
            if (positions == null) return;
            Set<KeyValue> keys = keysOf(document);
            if (keys.size() > 1) arrays = true;
            for (KeyValue values : keys) {
                for (Object value : values) unsorted |= !Key.sorts(value);
            }
            for (KeyValue values : keys) positions.put(Key.ofAll(values, position), position);
        }

        @Override
        public Object remove(Document document) {
            if (positions == null) return null;
            Object position = Missing.ofNullable(document.get("_id"));
            for (KeyValue values : keysOf(document)) positions.remove(Key.ofAll(values, position));
            return null;
        }

        private Set<KeyValue> keysOf(Document document) {
            return Keys.of(paths, sparse, document);
        }

        @Override
        public void updateInPlace(
            Document before, Document after, Object position, MongoCollection<Object> collection) {
            if (positions == null || keysOf(before).equals(keysOf(after))) return;
            remove(before);
            add(after, position, collection);
        }

        @Override
        public Object getPosition(Document document) {
            return null;
        }

        /** Two arrays beside each other are refused, also before a query has used the index. */
        @Override
        public void checkAdd(Document document, MongoCollection<Object> collection) {
            if (paths.length > 1) keysOf(document);
        }

        @Override
        public void checkUpdate(
            Document before, Document after, MongoCollection<Object> collection) {
            checkAdd(after, collection);
        }

        @Override
        public long getCount() {
            return positions == null ? 0 : positions.size();
        }
    }

    /**
     * Uses a unique index whose values a query gives, else the index of which it restricts most
     * fields; the library wants exactly these.
     */
    static final class IndexedCollection extends H2Collection {
        /** Those with a TTL index. Static, since they are opened before the backend is complete. */
        static final Set<IndexedCollection> EXPIRING = ConcurrentHashMap.newKeySet();
        private static final int DEADLINE_EVERY = 64;

        private final MVMap<Object, Document> documents;
        volatile List<Expiry> expiries = List.of();
        /** Used under the lock of the collection only. */
        private boolean updates;
        private int compared;

        IndexedCollection(
            MongoDatabase database, String name, CollectionOptions options,
            MVMap<Object, Document> documents, MVMap<String, Object> meta, CursorRegistry cursors) {
            super(database, name, options, documents, meta, cursors);
            this.documents = documents;
        }

        @Override
        public synchronized void addIndex(Index<Object> index) {
            try {
                super.addIndex(index);
            } catch (MongoServerError e) {
                if (index instanceof UniqueIndex unique) unique.clear();
                throw e;
            }
        }

        @Override
        public synchronized void dropIndex(String name) {
            super.dropIndex(name);
        }

        @Override
        public void drop() {
            EXPIRING.remove(this);
            super.drop();
        }

        /** `wanted` is a name or a key. */
        synchronized boolean hasIndex(Object wanted) {
            return getIndexes().stream().anyMatch(
                one -> Specs.isNamed(one.toIndexDescription(), wanted));
        }

        synchronized void follow(List<Expiry> all) {
            expiries = all;
            if (all.isEmpty()) EXPIRING.remove(this);
            else EXPIRING.add(this);
        }

        @Override
        protected Object addDocumentInternal(Document document) {
            for (Expiry expiry : expiries) expiry.note(document);
            return super.addDocumentInternal(document);
        }

        @Override
        protected void handleUpdate(Object position, Document before, Document after) {
            for (Expiry expiry : expiries) expiry.note(after);
            super.handleUpdate(position, before, after);
        }

        /** Continues where the last turn ended, without a lock: a cursor reads a snapshot. */
        List<Object> findExpired(Expiry expiry, long until) {
            if (!expiry.isDue()) return List.of();
            if (expiry.last == null) {
                synchronized (this) {
                    expiry.earliest = Long.MAX_VALUE;
                }
                expiry.earliestRead = Long.MAX_VALUE;
            }
            List<Object> expired = new ArrayList<>();
            Cursor<Object, Document> all = documents.cursor(expiry.last);
            while (all.hasNext()) {
                Object position = all.next();
                if (System.nanoTime() - until > 0) {
                    expiry.last = position;
                    return expired;
                }
                Document document = all.getValue();
                if (expiry.isExpired(document)) expired.add(position);
                else expiry.earliestRead = Math.min(expiry.earliestRead, expiry.dateOf(document));
            }
            expiry.last = null;
            synchronized (this) {
                expiry.earliest = Math.min(expiry.earliest, expiry.earliestRead);
            }
            return expired;
        }

        /** Except those that an update has given another date meanwhile. */
        synchronized void removeExpired(Expiry expiry, List<Object> positions) {
            if (!expiries.contains(expiry)) return;
            for (Object position : positions) {
                Document document = getDocument(position);
                if (document != null && expiry.isExpired(document)) removeDocument(document);
            }
        }

        @Override
        public synchronized Document updateDocuments(
            Document selector, Document update, ArrayFilters filters, boolean multi, boolean upsert,
            Oplog oplog) {
            updates = true;
            try {
                return super.updateDocuments(selector, update, filters, multi, upsert, oplog);
            } finally {
                updates = false;
            }
        }

        @Override
        public synchronized Document findAndModify(Document query) {
            updates = true;
            try {
                return super.findAndModify(query);
            } finally {
                updates = false;
            }
        }

        @Override
        protected boolean documentMatchesQuery(Document document, Document query) {
            if (++compared % DEADLINE_EVERY == 0) Deadline.check();
            return super.documentMatchesQuery(document, query);
        }

        /** An aggregation reads its own collection first, before those of its later stages. */
        @Override
        public Stream<Document> queryAllAsStream() {
            Document selected = SELECTED.get();
            SELECTED.remove();
            Stream<Document> found =
                selected == null ? super.queryAllAsStream() : handleQueryAsStream(selected);
            return found.peek(document -> Deadline.check());
        }

        /**
         * The library changes documents in place, and an answer is sent after the lock is released:
         * it would contain changes of later updates. So an update changes a copy.
         */
        @Override
        protected synchronized QueryResult queryDocuments(
            Document query, Document order, int skip, int limit, int batch, Document fields) {
            Deadline.check();
            QueryResult found = find(query, order, skip, limit, batch, fields);
            if (!updates) return found;
            return new QueryResult(() -> converted(found.iterator(), Document::clone));
        }

        private QueryResult find(
            Document query, Document order, int skip, int limit, int batch, Document fields) {
            RangeIndex best = null;
            Ranges ranges = Ranges.NONE;
            boolean serves = false;
            Document sort = order == null ? new Document() : order;
            Document conditions = Ranges.joined(query);
            for (Index<Object> index : getIndexes()) {
                Ranges found = ((RangeIndex) index).ranges(conditions);
                if (found.fields == 0) continue;
                boolean unique = index instanceof UniqueIndex && found.exact;
                boolean ordered = index instanceof SecondaryIndex one && one.serves(found, sort);
                boolean equal = found.fields == ranges.fields && ordered && !serves;
                if (unique || found.fields > ranges.fields || equal) {
                    best = (RangeIndex) index;
                    ranges = found;
                    serves = ordered;
                }
                if (unique) break;
            }
            if (best == null) return matchDocuments(query, order, skip, limit, batch, fields);
            if (best instanceof SecondaryIndex secondary) {
                secondary.build(streamAllDocumentsWithPosition());
                ranges = best.ranges(conditions);
            }
            Set<Object> positions = limit > 0
                ? some(best, ranges, query, sort, skip + limit)
                : best.positions(ranges);
            return matchDocuments(query, positions, order, skip, limit, batch, fields);
        }

        /** Reads no more documents than a limit needs if the index has their order. */
        private Set<Object> some(
            RangeIndex index, Ranges ranges, Document query, Document order, int count) {
            boolean backwards = order.values().stream()
                .anyMatch(direction -> direction instanceof Number one && one.intValue() < 0);
            if (index instanceof SecondaryIndex one && one.serves(ranges, order)) {
                return first(one.inOrder(ranges, backwards), query, count);
            }
            return isOfIds(index, ranges, order)
                ? first(
                    ((UniqueIndex) index).inOrder(ranges.ranges.get(0), backwards), query, count)
                : index.positions(ranges);
        }

        /** True if the query wants one range of ids in their order. */
        private static boolean isOfIds(RangeIndex index, Ranges ranges, Document order) {
            return index instanceof UniqueIndex && index.isOfIds() && ranges.ranges.size() == 1
                && order.size() == 1 && order.get("_id") instanceof Number;
        }

        private Set<Object> first(Iterator<Object> positions, Document query, int count) {
            Set<Object> found = new LinkedHashSet<>();
            while (found.size() < count && positions.hasNext()) {
                Object position = positions.next();
                if (documentMatchesQuery(getDocument(position), query)) found.add(position);
            }
            return found;
        }
    }
}
