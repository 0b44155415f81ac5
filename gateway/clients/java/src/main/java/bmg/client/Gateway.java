package bmg.client;

import bmg.client.rest.ApiClient;
import bmg.client.rest.ApiException;
import bmg.client.rest.auth.ApiKeyAuth;
import java.io.IOException;
import java.lang.reflect.Type;
import java.time.Duration;
import okhttp3.OkHttpClient;
import okhttp3.Response;

/**
 * The connection to a gateway: the generated client with retries. Pass it to the classes of {@code
 * bmg.client.rest.api}. Every error answer of the gateway is thrown as a {@link GatewayException};
 * a connection that fails on the last attempt, as an {@code ApiException}. Asynchronous calls give
 * a callback the first as the cause of the second.
 */
public final class Gateway extends ApiClient {
  private static final int ATTEMPTS_DEFAULT = 4;

  /** The longest that the gateway holds a request. */
  static final int WAIT_S = 20;

  /** A request without an answer for longer than this counts as lost. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(WAIT_S + 15);

  /**
   * @param baseUrl ends with {@code /v1}, for example {@code https://gateway.example.com/v1}
   * @param partnerKey a full credential: keep it on your server
   */
  public Gateway(String baseUrl, String partnerKey) {
    this(baseUrl, partnerKey, ATTEMPTS_DEFAULT);
  }

  /**
   * @param attemptsMax attempts of a request that may be repeated; 1 switches retries off
   */
  public Gateway(String baseUrl, String partnerKey, int attemptsMax) {
    super(httpClient(withoutSlash(baseUrl), attemptsMax));
    setBasePath(withoutSlash(baseUrl));
    ((ApiKeyAuth) getAuthentication("PartnerKey")).setApiKey(partnerKey);
  }

  private static String withoutSlash(String baseUrl) {
    return baseUrl.replaceAll("/+$", "");
  }

  private static OkHttpClient httpClient(String baseUrl, int attemptsMax) {
    return new OkHttpClient.Builder()
        .readTimeout(ANSWER_LIMIT)
        // It would repeat changes too.
        .retryOnConnectionFailure(false)
        .addInterceptor(new Retries(baseUrl, attemptsMax))
        .build();
  }

  @Override
  public <T> T handleResponse(Response response, Type returnType) throws ApiException {
    GatewayException failure;
    try {
      failure = GatewayException.of(response);
    } catch (IOException broken) {
      throw new ApiException(broken);
    }
    if (failure != null) throw failure;
    return super.handleResponse(response, returnType);
  }

  /** The events of the log; they wait for new ones, and for the gateway. */
  public EventLog events() {
    return events(new EventsOptions());
  }

  /** The events of the log that the options name. */
  public EventLog events(EventsOptions options) {
    return new EventLog(this, options);
  }
}
