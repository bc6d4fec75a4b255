/** Ways to look at a body under Raw, by their names. */
export const RAW_VIEWS = {
  fields: 'Fields',
  parts: 'Parts',
  image: 'Image',
  formatted: 'Formatted',
  text: 'Text',
  hex: 'Hex',
  message: 'Message',
} as const;
export type RawView = keyof typeof RAW_VIEWS;
