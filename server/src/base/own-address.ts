/** Where people and applications find this service: what links begin with. Never what a request says. */

export interface OwnAddress {
  /** PUBLIC_URL, or else where the service listens; without a path at the end. */
  url(): string
  /** The same without a path. */
  origin(): string
  /** The port is known only when the service listens. */
  listensAt(url: () => string): void
}

interface Options {
  readonly publicUrl: string | undefined
  /** Where the configuration has it listen. */
  readonly listening: string
}

export function createOwnAddress({ publicUrl, listening }: Options): OwnAddress {
  let bound = () => listening
  const url = () => publicUrl ?? bound()
  return {
    url,
    origin: () => new URL(url()).origin,
    listensAt(url) {
      bound = url
    },
  }
}
