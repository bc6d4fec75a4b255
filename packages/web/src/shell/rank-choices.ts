/** The choices that contain every word of `query`, those that start with it first. All of them for an empty query. */
export function rankChoices<Choice extends { readonly title: string; readonly hint?: string | undefined }>(
  choices: readonly Choice[],
  query: string,
): Choice[] {
  const words = query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const textOf = (choice: Choice): string => `${choice.title} ${choice.hint ?? ''}`.toLowerCase();
  const matching = choices.filter((choice) => words.every((word) => textOf(choice).includes(word)));
  const first = words[0] ?? '';
  const starts = (choice: Choice): number => Number(textOf(choice).startsWith(first));
  return matching.toSorted((a, b) => starts(b) - starts(a));
}
