// The MongoDB stand-in of the local mesh: a MongoDB wire server over one H2 MVStore file, used
// where no mongod is on the PATH. Run without a build: java -cp 'lib/*' MongoServer.java PORT FILE.
// Not for production, nor for figures.
//
// Durability: a write is answered only after the store has been committed to its file, so the loss
// window for acknowledged writes is zero when the process is killed (kill -9). The file is not
// fsynced for each commit: a power cut may lose what the operating system had not yet written.

import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.h2.mvstore.MVStore;

public class MongoServer {
    /**
     * More threads than cores: a write occupies its thread until its commit, and waiting threads
     * share one commit.
     */
    static final int WORKER_THREADS = 16;

    /**
     * Compaction blocks writes, for seconds in a large store. So it runs while the server is idle,
     * and for a file above FILE_BYTES_MAX under load too, in smaller steps. The pause between two
     * steps is PAUSE_TIMES as long as the last one: they take a tenth of the time.
     */
    static final int COMPACT_EVERY_MS = 250;
    static final int IDLE_MS = 250;
    static final int COMPACT_BELOW_PERCENT = 60;
    static final int COMPACT_BYTES = 4 * 1024 * 1024;
    static final long FILE_BYTES_MAX = 4L * 1024 * 1024 * 1024;
    static final int PAUSE_TIMES = 9;
    static final int COMPACT_BYTES_UNDER_LOAD = 512 * 1024;

    /**
     * How long chunks without live data are kept for readers that still use them. Every commit
     * makes a chunk.
     */
    static final int RETENTION_MS = 5_000;

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

        DurableBackend backend = new DurableBackend(store);
        backend.version(new Version());
        var server = new de.bwaldvogel.mongo.MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        Executors.newSingleThreadScheduledExecutor(MongoServer::daemon)
            .scheduleWithFixedDelay(
                backend::compact, COMPACT_EVERY_MS, COMPACT_EVERY_MS, TimeUnit.MILLISECONDS);
        server.bind(new InetSocketAddress("127.0.0.1", port), 1, WORKER_THREADS);
        System.out.println("mongo stand-in listens on 127.0.0.1:" + port + ", data in " + args[1]);
    }

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "compaction");
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

    /**
     * Makes writes durable. Writes run concurrently; a commit runs alone, so that it never saves
     * half a write, and it saves all writes that have ended.
     */
    static final class DurableBackend extends H2Backend {
        private static final Set<String> WRITES = Set.of(
            "insert", "update", "delete", "findandmodify", "create", "createindexes", "drop",
            "dropindexes", "deleteindexes", "dropdatabase", "renamecollection");

        private final MVStore store;
        private final ReadWriteLock gate = new ReentrantReadWriteLock();
        private final AtomicLong ended = new AtomicLong();
        private final Object turn = new Object();
        private long saved;
        private volatile long wroteAt = System.nanoTime();
        /** Only the compaction's thread uses it. */
        private long pauseUntil = System.nanoTime();

        DurableBackend(MVStore store) {
            super(store);
            this.store = store;
        }

        @Override
        public Document handleCommand(
            Channel channel, String database, String command, Document query) {
            if (!writes(command, query)) {
                return super.handleCommand(channel, database, command, query);
            }
            gate.readLock().lock();
            try {
                return super.handleCommand(channel, database, command, query);
            } finally {
                long mine = ended.incrementAndGet();
                gate.readLock().unlock();
                save(mine);
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

        void compact() {
            boolean idle = System.nanoTime() - wroteAt > TimeUnit.MILLISECONDS.toNanos(IDLE_MS);
            if (System.nanoTime() < pauseUntil) return;
            if (!idle && store.getFileStore().size() < FILE_BYTES_MAX) return;
            int bytes = idle ? COMPACT_BYTES : COMPACT_BYTES_UNDER_LOAD;
            gate.writeLock().lock();
            long started = System.nanoTime();
            try {
                if (store.isClosed()) return;
                if (store.compact(COMPACT_BELOW_PERCENT, bytes)) store.commit();
            } catch (RuntimeException e) {
                System.err.println("failed to compact the store, will retry: " + e);
            } finally {
                long now = System.nanoTime();
                pauseUntil = now + PAUSE_TIMES * (now - started);
                gate.writeLock().unlock();
            }
        }
    }
}
