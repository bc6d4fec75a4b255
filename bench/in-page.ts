// Runs inside the page (see browser.ts), so it is a script and not a module, and is checked with the web app's types.

/** What was seen while the list was scrolled from its top to its end. */
interface ScrollSeen {
  readonly rows: number;
  readonly frames: number;
  readonly seconds: number;
  /** The slowest one in a hundred. */
  readonly slowFrameMs: number;
}

/** Scrolls a frame at a time and notes every row that was there, until the oldest one is. */
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

/** Per row of the list: the time at which the frame with it was drawn. */
const drawnAt: Record<string, number> = {};

function watchRows(): void {
  const note = (): void => {
    const now = Date.now();
    for (const row of document.querySelectorAll('[role="grid"] [data-index]'))
      drawnAt[row.getAttribute('data-index') ?? ''] ??= now;
  };
  // After the next frame: a change of the document is not yet on the screen.
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(note))).observe(document.body, {
    childList: true,
    subtree: true,
    // Rows are used again for others.
    attributes: true,
    attributeFilter: ['data-index'],
  });
}

/** Milliseconds of the longest block of the main thread since `watchTasks`. */
let longestTask = 0;

function watchTasks(): void {
  longestTask = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
  }).observe({ type: 'longtask' });
}

/** Compressed bytes of the scripts that were loaded. */
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
