/** The public address of this service, with which its links begin. It never comes from a request. */

export interface OwnAddress {
  /** Returns PUBLIC_URL, or else the address at which the service listens; without a slash at the end. */
  url(): string
  /** Returns the origin of the public address, without a path. */
  origin(): string
  /** Sets the source of the address without PUBLIC_URL: its port is known only when the service listens. */
  listensAt(url: () => string): void
}

interface Options {
  readonly publicUrl: string | undefined
  /** The address at which the configuration has the service listen. */
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
