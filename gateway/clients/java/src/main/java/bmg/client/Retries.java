package bmg.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.ResponseBody;

/**
 * Repeats a request if that is safe: if the error is retryable, or if the connection failed and the
 * request changes nothing or has an Idempotency-Key. Sends get such a key by themselves, the same
 * on each attempt.
 */
final class Retries implements Interceptor {
  private static final String KEY = "Idempotency-Key";
  private static final long FIRST_WAIT_MS = 250;
  private static final long WAIT_MAX_MS = 60_000;

  /** 2 to the power of this many waits is beyond the maximum. */
  private static final int DOUBLINGS_MAX = 16;

  private final String root;
  private final int attemptsMax;

  Retries(String baseUrl, int attemptsMax) {
    this.root = URI.create(baseUrl).getPath();
    this.attemptsMax = attemptsMax;
  }

  @Override
  public Response intercept(Chain chain) throws IOException {
    Request request = withKey(chain.request());
    for (int attempt = 1; ; attempt++) {
      boolean isLast = attempt >= attemptsMax || chain.call().isCanceled();
      Duration wait = backoff(attempt);
      try {
        Response response = whole(chain.proceed(request));
        GatewayException failure = GatewayException.of(response);
        if (failure == null || isLast || !failure.retryable()) return response;
        if (failure.retryAfter() != null) wait = failure.retryAfter();
      } catch (IOException broken) {
        if (isLast || !isSafe(request)) throw broken;
      }
      pause(wait);
    }
  }

  /** True if a request may be repeated although it may have been carried out. */
  static boolean isSafe(Request request) {
    return request.method().equals("GET") || request.header(KEY) != null;
  }

  private Request withKey(Request request) {
    String path = request.url().encodedPath();
    boolean needsKey =
        request.method().equals("POST")
            && path.startsWith(root)
            && Idempotent.PATHS.contains(path.substring(root.length()))
            && request.header(KEY) == null;
    if (!needsKey) return request;
    return request.newBuilder().header(KEY, UUID.randomUUID().toString()).build();
  }

  /** Reads the body: a connection that breaks inside it fails the attempt. */
  private static Response whole(Response response) throws IOException {
    try (ResponseBody body = response.body()) {
      ResponseBody copy = ResponseBody.create(body.bytes(), body.contentType());
      return response.newBuilder().body(copy).build();
    }
  }

  /** Exponential backoff with jitter. */
  static Duration backoff(int attempt) {
    long wait = Math.min(FIRST_WAIT_MS << Math.min(attempt - 1, DOUBLINGS_MAX), WAIT_MAX_MS);
    return Duration.ofMillis(wait / 2 + ThreadLocalRandom.current().nextLong(wait / 2));
  }

  private static void pause(Duration wait) throws IOException {
    try {
      Thread.sleep(wait.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted before the next attempt");
    }
  }
}
