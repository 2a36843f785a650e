/** The routes of the public log: its head, entries, proofs and anchors. */
import {
  AnchorList,
  AnchorQuery,
  ConsistencyProof,
  ConsistencyProofQuery,
  InclusionProof,
  InclusionProofQuery,
  LogEntries,
  LogEntriesQuery,
  LogHead,
} from '@claimcheck/core/api'
import type { App } from '../../../http/instance.ts'
import { errors, JSON_TYPE, jsonText } from '../../../http/route.ts'
import type { LogService } from '../log.ts'
import { toAnchor, toLogEntries } from '../wire.ts'

export function logRoutes(app: App, log: LogService): void {
  const tags = ['Log']

  app.get('/v1/log/head', {
    schema: {
      operationId: 'getLogHead',
      tags,
      summary: 'Read the newest signed tree head and the newest anchor',
      response: { 200: jsonText(LogHead), ...errors(429, 503) },
    },
    handler: async (_request, reply) => {
      const { treeHead, anchor } = await log.head()
      const anchorText = JSON.stringify(anchor && toAnchor(anchor))
      return reply.type(JSON_TYPE).send(`{"tree_head":${treeHead},"anchor":${anchorText}}`)
    },
  })

  app.get('/v1/log/entries', {
    schema: {
      operationId: 'listLogEntries',
      tags,
      summary: 'List entries in order: leaf index, leaf hash and time',
      querystring: LogEntriesQuery,
      response: { 200: LogEntries, ...errors(400, 404, 422, 429, 503) },
    },
    handler: async ({ query }) => toLogEntries(await log.entries(query.start, query.limit)),
  })

  app.get('/v1/log/proof', {
    schema: {
      operationId: 'getInclusionProof',
      tags,
      summary: 'Prove that a leaf is in the tree of a given size',
      querystring: InclusionProofQuery,
      response: { 200: InclusionProof, ...errors(400, 404, 422, 429, 503) },
    },
    handler: ({ query }) => log.inclusion(query.leaf_index, query.tree_size),
  })

  app.get('/v1/log/consistency', {
    schema: {
      operationId: 'getConsistencyProof',
      tags,
      summary: 'Prove that a smaller tree is a prefix of a larger tree',
      querystring: ConsistencyProofQuery,
      response: { 200: ConsistencyProof, ...errors(400, 404, 422, 429, 503) },
    },
    handler: ({ query }) => log.consistency(query.first, query.second),
  })

  app.get('/v1/log/anchors', {
    schema: {
      operationId: 'listAnchors',
      tags,
      summary: 'List the landed anchors of the log, newest first',
      querystring: AnchorQuery,
      response: { 200: AnchorList, ...errors(422, 429, 503) },
    },
    handler: async ({ query }) => {
      const { anchors, next } = await log.anchors(query.limit, query.before)
      return { anchors: anchors.map(toAnchor), next }
    },
  })
}
