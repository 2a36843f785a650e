/**
 * A request of each operation and its answer, as the reference shows them. A test sends each request to a running service, and compares the answers.
 */
export interface Example {
  /** The values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Headers beside those of the credential and the body. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  readonly answer: unknown
}

const FACTS = {
  repository: 'octo-org/hello-world',
  repository_id: '1296269',
  branch_listed: true,
  head: '0123456789abcdef0123456789abcdef01234567',
  pushed_at: '2026-09-25T14:02:49.000Z',
}

const webhook = 'wht_01M82WPTA0QH9V7R3JYB6ZK4CD'
const DELIVERY = {
  id: 'msg_01M82WPX7B1W5E0D8Q6RZT3YFA',
  webhook,
  event: '17',
  type: 'claim.decided',
  subject: 'clm_01M82WPWVR5FDBJW1MHBFTFEYQ',
  state: 'delivered',
  attempts: 1,
  next_try_at: null,
  last_try: { at: '2026-09-25T14:02:49.611Z', status: 204, duration_ms: 38 },
  fault: null,
  created_at: '2026-09-25T14:02:49.530Z',
}

/** Sorts members as a signed document does. */
function sorted(members: object): object {
  return Object.fromEntries(Object.entries(members).toSorted())
}

const SEEN_AT = '2026-09-25T14:02:49.495Z'

const CLAIM = {
  claim_id: 'clm_01M82WPWVR5FDBJW1MHBFTFEYQ',
  client_claim_id: 'run-4711',
  agent_id: 'release-bot',
  action: 'codehost.commit.push',
  target: 'octo-org/hello-world',
  claimed_at: '2026-09-25T14:02:49.064Z',
  deadline_at: '2026-09-25T14:17:49.064Z',
  submitted_at: '2026-09-25T14:02:49.176Z',
  claim_digest: 'fikjKO_Cr-2kMWNvbIC5Ygam83jGRPz3PMak0sh2tBE',
  state: 'decided',
  attempts: 1,
  next_check_at: null,
  receipt_id: 'rcpt_01M82WPX62VT6ZTVNGVTYHHEC0',
  verdict: 'verified',
  reason_code: null,
  last_check: {
    at: SEEN_AT,
    result: 'present',
    facts: FACTS,
  },
}

const { claim_id, client_claim_id, agent_id, action, target, claimed_at, deadline_at, submitted_at, claim_digest } =
  CLAIM
const { receipt_id } = CLAIM
const ISSUED_AT = '2026-09-25T14:02:49.506Z'
const SIGNED_AT = '2026-09-25T14:02:49.593Z'
const key_id = 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0'
const log_id = '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU'
const root_hash = 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8'
const FIRST_HASH = 'gdUB80tTVv1UFRsn58WeZ3YsbfFVmx8nwoXC2npOh3Y'
const SECOND_HASH = '-Pwa8ycqXREDlU9a1VJ2IFvUha03YWwD7EpK3ob8-c4'
const SOURCE = { base_url: 'https://api.github.com', listed: true, provider: 'github' }
const RULES = { required: { branch: 'target', sha: 'content' }, tolerance_ms: 600000 }
const TIMES = { age_ms: 0, removed_within_ms: 86400000, fresh_ms: 10000, closing_ms: 30000, grace_ms: 120000 }
const READY = { ok: true, problems: [], warnings: [] }

/** The examples by operation. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  submitClaim: {
    body: {
      client_claim_id,
      agent_id,
      action,
      target,
      params: { sha: FACTS.head, branch: 'main' },
      claimed_at,
    },
    answer: { ...CLAIM, created: true },
  },
  listClaims: {
    query: {
      verdict: 'verified',
      limit: '1',
    },
    answer: {
      claims: [CLAIM],
      next_cursor: 'WzE3OTAzNDU3MzEwNjQsImNsbV8wMU04MldQV1ZSNUZEQkpXMU1IQkZURkVZUSJd',
    },
  },
  getClaim: {
    path: { claim_id },
    answer: CLAIM,
  },
  listenToEvents: {
    query: { after: '16', limit: '1' },
    headers: { Accept: 'application/json' },
    answer: {
      events: [{ id: '17', type: 'claim.decided', timestamp: SIGNED_AT, data: CLAIM }],
      next: '17',
    },
  },
  getReceipt: {
    path: { receipt_id },
    answer: {
      body: {
        agent: {
          id: agent_id,
        },
        claim: {
          action,
          claim_digest,
          claimed_at,
          client_claim_id,
          params: { branch: 'main', sha: FACTS.head },
          target,
        },
        issued_at: ISSUED_AT,
        issuer: {
          key_id,
        },
        observation: {
          appeared: {
            not_after: SEEN_AT,
            source: 'observation',
          },
          attempts: 1,
          deadline_at,
          evidence_digest: 'Y7wOrrQxfR_Mrmbsr-eNtIWJLK5vvxY6I5WfmBF5ldU',
          facts: sorted(FACTS),
          observed_at: SEEN_AT,
          source: SOURCE,
          verifier: {
            code_hash: 'sha256:CHqPhEqWRjLlQkl-J7aUW16C7MCGAxIUPoBD9eLyBIo',
            id: action,
            package: '@claimcheck/plugin-codehost',
            package_version: '0.1.0',
            version: '1',
          },
        },
        receipt_id,
        spec_version: 'poaw/0.1',
        trust_level: 2,
        verdict: {
          value: 'verified',
        },
      },
      signature: {
        alg: 'Ed25519',
        key_id,
        value: 'S1SQsTZzx2ZkO6CLCfXxiwc0TejpoST7inhgui_pUpQhq9I8Uvad5tDnDn3vsucUS-c81dJ16u_82gsaJ2SlCw',
      },
      proof: {
        log_id,
        leaf_index: 0,
        tree_size: 2,
        root_hash,
        inclusion: [SECOND_HASH],
      },
    },
  },
  getEvidence: {
    path: { receipt_id },
    answer: {
      checks: [
        {
          age_ms: 10000,
          answered_at: SEEN_AT,
          clock_offset_ms: 801,
          dated: true,
          differs: [],
          facts: sorted(FACTS),
          kind: 'present',
          sent_at: '2026-09-25T14:02:49.198Z',
          source: SOURCE,
        },
      ],
      claim: { claim_digest, claimed_at, deadline_at, submitted_at },
      decided_at: SEEN_AT,
      evidence_version: 1,
      profile: {
        action,
        version: '1',
      },
      rules: sorted({ ...RULES, ...TIMES }),
      rules_version: 1,
    },
  },
  listProfiles: {
    answer: {
      profiles: [
        {
          action,
          version: '1',
          rules_version: 1,
          summary: 'A commit was pushed: it can be reached from the named branch of the repository.',
          ...RULES,
          deadline_ms: 900000,
          max_deadline_ms: 86400000,
          ...TIMES,
          words: {
            title: 'Push of a commit',
            target: 'Repository',
            claim: 'Commit {sha:short} was pushed to {branch} of {target}.',
            outcomes: {
              verified: 'Commit {sha:short} was on {branch} of {target} in time.',
              late: 'Commit {sha:short} came onto {branch} of {target} too late.',
              mismatch: [
                'Commit {sha:short} was found on {found_on} of {target}, not on {branch}.',
                'Commit {sha:short} was found in {target}, but not on {branch}.',
              ],
              failed: 'Commit {sha:short} was not on {branch} of {target}.',
            },
            facts: {
              pushed_at: "It was pushed at {pushed_at}, by the destination's own log.",
            },
          },
          titles: {
            params: {
              sha: 'Commit',
              branch: 'Branch',
            },
            facts: {
              pushed_at: 'Pushed at',
            },
          },
        },
      ],
    },
  },
  getLogHead: {
    answer: {
      tree_head: {
        body: {
          log_id,
          tree_size: 2,
          root_hash,
          issued_at: SIGNED_AT,
        },
        signature: {
          alg: 'Ed25519',
          key_id,
          value: 'Pw-lEHWkvfISF8QH-C_7Cp5SMBVZlr_W0wpu8x_USm0k_3ASX6bZ3a-wU8MLemLkgf_LuNd6c_LiDo2esc3hBA',
        },
      },
      anchor: null,
    },
  },
  listLogEntries: {
    query: {
      start: '0',
      limit: '2',
    },
    answer: {
      tree_size: 2,
      entries: [
        {
          leaf_index: 0,
          leaf_hash: FIRST_HASH,
          created_at: ISSUED_AT,
        },
        {
          leaf_index: 1,
          leaf_hash: SECOND_HASH,
          created_at: SIGNED_AT,
        },
      ],
      next: null,
    },
  },
  getInclusionProof: {
    query: {
      leaf_index: '0',
      tree_size: '2',
    },
    answer: {
      log_id,
      leaf_index: 0,
      tree_size: 2,
      leaf_hash: FIRST_HASH,
      root_hash,
      inclusion: [SECOND_HASH],
    },
  },
  getConsistencyProof: {
    query: {
      first: '1',
      second: '2',
    },
    answer: {
      log_id,
      first: 1,
      second: 2,
      first_root: FIRST_HASH,
      second_root: root_hash,
      proof: [SECOND_HASH],
    },
  },
  listAnchors: {
    query: {
      limit: '1',
    },
    answer: {
      anchors: [
        {
          chain: 'eip155:84532',
          scheme: 'eas',
          uid: '0x5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f',
          tx_hash: '0xc4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4',
          tree_size: 2,
          root_hash,
          block_number: 31415926,
          block_time: 1790345100,
        },
      ],
      next: null,
    },
  },
  getKeys: {
    answer: {
      issuer: 'claimcheck',
      log_id,
      keys: [
        {
          key_id,
          public_key: '0qQ1i9sQJt2W9bzMaU91YDlV4o65l341r7MCLY4KF7I',
          valid_from: '2026-09-25T14:02:48.939Z',
          revoked_at: null,
          jwk: {
            kty: 'OKP',
            crv: 'Ed25519',
            kid: key_id,
            x: '0qQ1i9sQJt2W9bzMaU91YDlV4o65l341r7MCLY4KF7I',
          },
        },
      ],
      anchor_addresses: [],
      anchor_schemas: [],
    },
  },
  whoami: {
    answer: {
      workspace_id: 'ws_01M82WPTA0QH9V7R3JYB6ZK4CD',
      kind: 'key',
      scopes: null,
      audience: null,
    },
  },
  listConnections: {
    answer: {
      connections: [
        {
          id: 'conn_01M82WPTA0QH9V7R3JYB6ZK4CD',
          provider: 'github',
          name: 'GitHub, acme',
          scopes: [],
          connected_at: '2026-09-25T09:00:00.000Z',
          actions: [action],
        },
      ],
      public_actions: [action],
    },
  },
  listWebhooks: {
    answer: {
      webhooks: [
        {
          id: webhook,
          format: 'standard',
          origin: 'https://hooks.example.com',
          filters: { types: ['claim.decided'], verdicts: ['failed'], actions: [], agents: [], connections: [] },
          state: 'on',
          off_reason: null,
          created_at: '2026-09-25T09:00:00.000Z',
        },
      ],
    },
  },
  listWebhookDeliveries: {
    query: { state: 'delivered' },
    answer: { deliveries: [DELIVERY], next_cursor: null },
  },
  getWebhookDelivery: {
    path: { delivery_id: DELIVERY.id },
    answer: DELIVERY,
  },
  resendWebhookDelivery: {
    path: { delivery_id: DELIVERY.id },
    answer: { ...DELIVERY, state: 'waiting', next_try_at: '2026-09-25T14:10:00.000Z' },
  },
  getHealth: {
    answer: {
      status: 'ok',
    },
  },
  getReadiness: {
    answer: READY,
  },
  getReadReadiness: {
    answer: READY,
  },
}
