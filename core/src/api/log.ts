/** The wire format of the public log: heads, entries, proofs and anchors. */
import { type Static, Type } from '../typebox.ts'
import { count, Hash, nullable, Timestamp } from './primitives.ts'
import { Signature } from './receipt.ts'

export const Anchor = Type.Object(
  {
    chain: Type.String({ description: 'CAIP-2.', examples: ['eip155:84532'] }),
    scheme: Type.String({ examples: ['eas'] }),
    uid: Type.String({ description: "The attestation's id." }),
    tx_hash: Type.String(),
    tree_size: count(),
    root_hash: Hash,
    block_number: count(),
    block_time: Type.Integer({ description: 'Unix seconds.' }),
  },
  { title: 'Anchor' },
)
export type Anchor = Static<typeof Anchor>

export const LogHead = Type.Object(
  {
    tree_head: Type.Object(
      {
        body: Type.Object({ log_id: Hash, tree_size: count(), root_hash: Hash, issued_at: Timestamp }),
        signature: Signature,
      },
      { title: 'SignedTreeHead' },
    ),
    anchor: nullable(Anchor),
  },
  { title: 'LogHead' },
)
export type LogHead = Static<typeof LogHead>

export const LogEntries = Type.Object(
  {
    tree_size: count(),
    entries: Type.Array(
      Type.Object({ leaf_index: count(), leaf_hash: Hash, created_at: Timestamp }, { title: 'LogEntry' }),
      { description: 'Ascending.' },
    ),
    next: nullable(Type.Integer({ description: "The next page's `start`." })),
  },
  { title: 'LogEntries' },
)
export type LogEntries = Static<typeof LogEntries>

export const LogEntriesQuery = Type.Object(
  {
    start: Type.Optional(count({ description: 'The first leaf index of the page. Without it: the newest entries.' })),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  },
  { additionalProperties: false },
)
export type LogEntriesQuery = Static<typeof LogEntriesQuery>

export const InclusionProof = Type.Object(
  {
    log_id: Hash,
    leaf_index: count(),
    tree_size: count(),
    leaf_hash: Hash,
    root_hash: Hash,
    inclusion: Type.Array(Hash, { description: 'From the leaf to the root (RFC 9162, 2.1.3).' }),
  },
  { title: 'InclusionProof' },
)
export type InclusionProof = Static<typeof InclusionProof>

export const InclusionProofQuery = Type.Object(
  {
    leaf_index: count(),
    tree_size: Type.Optional(count({ description: 'The current size when absent.' })),
  },
  { additionalProperties: false },
)
export type InclusionProofQuery = Static<typeof InclusionProofQuery>

export const ConsistencyProof = Type.Object(
  {
    log_id: Hash,
    first: count(),
    second: count(),
    first_root: Hash,
    second_root: Hash,
    proof: Type.Array(Hash, { description: 'RFC 9162, 2.1.4. Empty for equal sizes.' }),
  },
  { title: 'ConsistencyProof' },
)
export type ConsistencyProof = Static<typeof ConsistencyProof>

export const ConsistencyProofQuery = Type.Object(
  {
    first: count(),
    second: Type.Optional(count({ description: 'The current size when absent.' })),
  },
  { additionalProperties: false },
)
export type ConsistencyProofQuery = Static<typeof ConsistencyProofQuery>

export const AnchorList = Type.Object(
  {
    anchors: Type.Array(Anchor, { description: 'Newest first.' }),
    next: nullable(Type.Integer({ description: 'To pass as `before`.' })),
  },
  { title: 'AnchorList' },
)
export type AnchorList = Static<typeof AnchorList>

export const AnchorQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    before: Type.Optional(count({ description: 'Only anchors of smaller trees: the `next` of the page before.' })),
  },
  { additionalProperties: false },
)
export type AnchorQuery = Static<typeof AnchorQuery>
