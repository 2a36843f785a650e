/** The parts of rows that most tests are not about. */

/** An API key that the command line made, and nobody has used. */
export const UNUSED = {
  createdBy: null,
  lastUsedAt: null,
  lastAddress: null,
  expiresAt: null,
  networks: [],
  agentIds: null,
  replacedBy: null,
} as const

/** A connection that the command line made, and nothing was read through. */
export const UNREAD = {
  name: null,
  connectedBy: null,
  sealedTokens: {},
  sourceKey: null,
  address: 'withheld',
  notes: [],
  lastReadAt: null,
  lastFailureAt: null,
  lastFailure: null,
  state: null,
  stateAt: null,
  trialTarget: null,
  expiresAt: null,
  identity: null,
} as const
