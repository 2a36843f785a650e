/** The newest heads of the log that clients with a credential saw: requests carry them, and each answer gives the newest. */
import { TREE_HEAD_FIELD } from '@claimcheck/core/log'
import type { FastifyRequest } from 'fastify'
import { hasCredential } from './credential.ts'
import type { App } from './instance.ts'

export interface TreeHeads {
  /** Returns the newest head as a field of an answer; undefined while this host knows none. */
  newest(): string | undefined
  /**
   * Takes the tree head that a client sent, whatever it is. It is examined after the answer.
   * @param spender the party whose credential the client has
   */
  hear(text: string, spender: string): void
}

export function announceTreeHeads(app: App, treeHeads: TreeHeads): void {
  // This hook runs when the answer is ready: the head must cover what the answer tells of.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const newest = hasCredential(request) ? treeHeads.newest() : undefined
    if (newest !== undefined) reply.header(TREE_HEAD_FIELD, newest)
    done()
  })
}

export function hearTreeHead({ headers }: FastifyRequest, treeHeads: TreeHeads, spender: string): void {
  const text = headers[TREE_HEAD_FIELD]
  if (typeof text === 'string') treeHeads.hear(text, spender)
}
