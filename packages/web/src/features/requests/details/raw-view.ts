/** The views of the Raw tab, as in the URL. */
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
