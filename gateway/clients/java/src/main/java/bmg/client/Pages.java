package bmg.client;

import bmg.client.rest.ApiException;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** Reads a list page by page; each iterator begins with the first page. */
final class Pages<P, A, T> implements Iterator<T> {
  private final Lists.Call<P, A> call;
  private final Function<A, List<T>> items;
  private final Function<A, P> following;
  private Iterator<T> page = Collections.emptyIterator();
  private P position;
  private boolean isStarted;

  private Pages(Lists.Call<P, A> call, Function<A, List<T>> items, Function<A, P> following) {
    this.call = call;
    this.items = items;
    this.following = following;
  }

  @Override
  public boolean hasNext() {
    while (!page.hasNext()) {
      if (isStarted && position == null) return false;
      isStarted = true;
      try {
        A answer = call.at(position);
        page = items.apply(answer).iterator();
        position = following.apply(answer);
      } catch (ApiException e) {
        throw new IllegalStateException("the page was not read", e);
      }
    }
    return true;
  }

  @Override
  public T next() {
    if (!hasNext()) throw new NoSuchElementException("the list has no more items");
    return page.next();
  }

  static <P, A, T> Iterable<T> of(
      Lists.Call<P, A> call, Function<A, List<T>> items, Function<A, P> following) {
    return () -> new Pages<>(call, items, following);
  }

  /** The offset of the following page; null after the last one, which is not full. */
  static Integer offset(Long offset, int items, Long limit) {
    return items < limit ? null : Math.toIntExact(offset + items);
  }
}
