/** The newest signed head of the service's log that this client saw: it goes along with each request, so that the log cannot lose entries unseen. */
import { newerHeadField, TREE_HEAD_FIELD } from '@claimcheck/core/checker'

/** Keeps a head, by default as long as the client lives. */
export interface TreeHeadMemory {
  recall(): string | undefined
  keep(head: string): void
}

export function inMemory(): TreeHeadMemory {
  let known: string | undefined
  return {
    recall: () => known,
    keep(head) {
      known = head
    },
  }
}

export function headerOf(memory: TreeHeadMemory): Readonly<Record<string, string>> {
  const head = memory.recall()
  return head === undefined ? {} : { [TREE_HEAD_FIELD]: head }
}

export function keepFrom({ headers }: Pick<Response, 'headers'>, memory: TreeHeadMemory): void {
  const known = memory.recall()
  const newest = newerHeadField(known, headers.get(TREE_HEAD_FIELD) ?? undefined)
  if (newest !== undefined && newest !== known) memory.keep(newest)
}
