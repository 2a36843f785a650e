/** Work that goes on in the background from the start of the server to its end. */

export interface Worker {
  start(): void
  /** Takes up nothing new, and resolves when what is under way is done. */
  stop(): Promise<void>
}
