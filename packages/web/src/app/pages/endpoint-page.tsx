export function EndpointPage() {
  return null;
}
