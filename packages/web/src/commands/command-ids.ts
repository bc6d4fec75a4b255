/** Ids of the commands that one part of the page offers and another runs. */
export const COMMAND_IDS = {
  newEndpoint: 'endpoint.new',
  palette: 'app.palette',
  help: 'app.help',
  search: 'app.search',
  subscription: 'go.subscription',
} as const;
