/** What `git-process.ts` is told, and what it says. */

export interface RunOrder {
  readonly folder: string
  readonly args: readonly string[]
}

export type RunOutcome = { readonly stdout: string } | { readonly failure: GitEnd }

/** How git ended where it did not end well. */
export interface GitEnd {
  readonly message: string
  readonly code: unknown
  readonly stderr: string
}

/** Of the folder of repositories, and of the protocol's version as git's clients ask for it. */
export interface BackendOrder {
  readonly root: string
  readonly protocol?: string | undefined
}

export const ORDER_HEADER = 'git-order'
