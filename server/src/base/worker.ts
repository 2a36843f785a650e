/** Background work that runs as long as the server does. */

export interface Worker {
  start(): void
  /** Starts nothing new; resolves when the work in progress is done. */
  stop(): Promise<void>
}
