/** The newest heads of the log that clients with a credential saw: they send them along, and each answer gives them the newest. */
import { TREE_HEAD_FIELD } from '@claimcheck/core/log'
import type { FastifyRequest } from 'fastify'
import { hasCredential } from './credential.ts'
import type { App } from './instance.ts'

export interface TreeHeads {
  /** Returns the newest head as a field of an answer; undefined while this host knows none. */
  newest(): string | undefined
  /** Takes what a client sent, whatever it is. It is looked at after the answer. @param spender whose credential the client has */
  hear(text: string, spender: string): void
}

export function announceTreeHeads(app: App, treeHeads: TreeHeads): void {
  // Runs when the answer is ready: the head must cover what the answer tells of.
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
