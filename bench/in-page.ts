// browser.ts runs this inside the page, so it is a script instead of a module, and is checked with the web app's types.

/** Result of scrolling the list from its top to its end. */
interface ScrollSeen {
  readonly rows: number;
  readonly frames: number;
  readonly seconds: number;
  /** p99 of the time for a frame. */
  readonly slowFrameMs: number;
}

/** Scrolls once per frame and records the drawn rows, until the oldest row is drawn. */
async function scrollToEnd(stepPixels: number): Promise<ScrollSeen> {
  const grid = document.querySelector<HTMLElement>('[role="grid"]');
  if (grid === null) throw new Error('There is no list.');
  const seen = new Set<string>();
  const frames: number[] = [];
  const started = performance.now();
  let last = started;
  let still = 0;
  while (!seen.has('0') && still < 600) {
    const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
    frames.push(now - last);
    last = now;
    for (const row of grid.querySelectorAll('[data-index]')) seen.add(row.getAttribute('data-index') ?? '');
    const before = grid.scrollTop;
    grid.scrollTop += stepPixels;
    still = grid.scrollTop === before ? still + 1 : 0;
  }
  const slow = frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.99)] ?? 0;
  return { rows: seen.size, frames: frames.length, seconds: (last - started) / 1000, slowFrameMs: slow };
}

/** The time at which each row was drawn, by index. */
const drawnAt: Record<string, number> = {};

function watchRows(): void {
  const note = (): void => {
    const now = Date.now();
    for (const row of document.querySelectorAll('[role="grid"] [data-index]'))
      drawnAt[row.getAttribute('data-index') ?? ''] ??= now;
  };
  // A changed document is on the screen only after the next frame.
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(note))).observe(document.body, {
    childList: true,
    subtree: true,
    // The list reuses the elements of rows.
    attributes: true,
    attributeFilter: ['data-index'],
  });
}

/** Milliseconds of the longest task since `watchTasks`. */
let longestTask = 0;

function watchTasks(): void {
  longestTask = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
  }).observe({ type: 'longtask' });
}

/** Compressed bytes of the loaded scripts. */
function scriptBytes(): number {
  return performance
    .getEntriesByType('resource')
    .filter((entry) => entry instanceof PerformanceResourceTiming && /\.js(\?|$)/.test(entry.name))
    .reduce((sum, entry) => sum + (entry instanceof PerformanceResourceTiming ? entry.encodedBodySize : 0), 0);
}

function heapBytes(): number {
  const memory: unknown = Reflect.get(performance, 'memory');
  return typeof memory === 'object' && memory !== null ? Number(Reflect.get(memory, 'usedJSHeapSize')) : Number.NaN;
}

Object.assign(window, {
  creelBench: {
    scrollToEnd,
    watchRows,
    drawnAt: () => drawnAt,
    watchTasks,
    longestTask: () => longestTask,
    scriptBytes,
    heapBytes,
  },
});
