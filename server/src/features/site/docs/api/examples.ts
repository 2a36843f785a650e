/**
 * A request of each operation and its answer, as the reference shows them. A test sends each request to a running service, and compares the answers.
 */
export interface Example {
  /** The values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
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

/** Facts in the order in which a signed document sorts them. */
const SORTED_FACTS = Object.fromEntries(Object.entries(FACTS).toSorted())

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
    at: '2026-09-25T14:02:49.495Z',
    result: 'present',
    facts: FACTS,
  },
}

const { claim_id, client_claim_id, agent_id, action, target, claimed_at, deadline_at, submitted_at, claim_digest } =
  CLAIM
const SOURCE = { base_url: 'https://api.github.com', listed: true, provider: 'github' }
const REQUIRED = { branch: 'target', sha: 'content' }
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
  getReceipt: {
    path: { receipt_id: CLAIM.receipt_id },
    answer: {
      body: {
        agent: {
          id: 'release-bot',
        },
        claim: {
          action,
          claim_digest,
          claimed_at,
          client_claim_id,
          params: { branch: 'main', sha: FACTS.head },
          target,
        },
        issued_at: '2026-09-25T14:02:49.506Z',
        issuer: {
          key_id: 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0',
        },
        observation: {
          appeared: {
            not_after: '2026-09-25T14:02:49.495Z',
            source: 'observation',
          },
          attempts: 1,
          deadline_at: '2026-09-25T14:17:49.064Z',
          evidence_digest: 'Y7wOrrQxfR_Mrmbsr-eNtIWJLK5vvxY6I5WfmBF5ldU',
          facts: SORTED_FACTS,
          observed_at: '2026-09-25T14:02:49.495Z',
          source: SOURCE,
          verifier: {
            code_hash: 'sha256:CHqPhEqWRjLlQkl-J7aUW16C7MCGAxIUPoBD9eLyBIo',
            id: 'codehost.commit.push',
            package: '@claimcheck/plugin-codehost',
            package_version: '0.1.0',
            version: '1',
          },
        },
        receipt_id: 'rcpt_01M82WPX62VT6ZTVNGVTYHHEC0',
        spec_version: 'poaw/0.1',
        trust_level: 2,
        verdict: {
          value: 'verified',
        },
      },
      signature: {
        alg: 'Ed25519',
        key_id: 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0',
        value: 'S1SQsTZzx2ZkO6CLCfXxiwc0TejpoST7inhgui_pUpQhq9I8Uvad5tDnDn3vsucUS-c81dJ16u_82gsaJ2SlCw',
      },
      proof: {
        log_id: '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU',
        leaf_index: 0,
        tree_size: 2,
        root_hash: 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8',
        inclusion: ['-Pwa8ycqXREDlU9a1VJ2IFvUha03YWwD7EpK3ob8-c4'],
      },
    },
  },
  getEvidence: {
    path: { receipt_id: CLAIM.receipt_id },
    answer: {
      checks: [
        {
          age_ms: 10000,
          answered_at: '2026-09-25T14:02:49.495Z',
          clock_offset_ms: 801,
          dated: true,
          differs: [],
          facts: SORTED_FACTS,
          kind: 'present',
          sent_at: '2026-09-25T14:02:49.198Z',
          source: SOURCE,
        },
      ],
      claim: { claim_digest, claimed_at, deadline_at, submitted_at },
      decided_at: '2026-09-25T14:02:49.495Z',
      evidence_version: 1,
      profile: {
        action: 'codehost.commit.push',
        version: '1',
      },
      rules: {
        age_ms: 0,
        closing_ms: 30000,
        fresh_ms: 10000,
        grace_ms: 120000,
        removed_within_ms: 86400000,
        required: REQUIRED,
        tolerance_ms: 600000,
      },
      rules_version: 1,
    },
  },
  listProfiles: {
    answer: {
      profiles: [
        {
          action: 'codehost.commit.push',
          version: '1',
          rules_version: 1,
          summary: 'A commit was pushed: it can be reached from the named branch of the repository.',
          required: REQUIRED,
          tolerance_ms: 600000,
          deadline_ms: 900000,
          max_deadline_ms: 86400000,
          age_ms: 0,
          removed_within_ms: 86400000,
          fresh_ms: 10000,
          closing_ms: 30000,
          grace_ms: 120000,
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
          log_id: '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU',
          tree_size: 2,
          root_hash: 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8',
          issued_at: '2026-09-25T14:02:49.593Z',
        },
        signature: {
          alg: 'Ed25519',
          key_id: 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0',
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
          leaf_hash: 'gdUB80tTVv1UFRsn58WeZ3YsbfFVmx8nwoXC2npOh3Y',
          created_at: '2026-09-25T14:02:49.506Z',
        },
        {
          leaf_index: 1,
          leaf_hash: '-Pwa8ycqXREDlU9a1VJ2IFvUha03YWwD7EpK3ob8-c4',
          created_at: '2026-09-25T14:02:49.593Z',
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
      log_id: '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU',
      leaf_index: 0,
      tree_size: 2,
      leaf_hash: 'gdUB80tTVv1UFRsn58WeZ3YsbfFVmx8nwoXC2npOh3Y',
      root_hash: 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8',
      inclusion: ['-Pwa8ycqXREDlU9a1VJ2IFvUha03YWwD7EpK3ob8-c4'],
    },
  },
  getConsistencyProof: {
    query: {
      first: '1',
      second: '2',
    },
    answer: {
      log_id: '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU',
      first: 1,
      second: 2,
      first_root: 'gdUB80tTVv1UFRsn58WeZ3YsbfFVmx8nwoXC2npOh3Y',
      second_root: 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8',
      proof: ['-Pwa8ycqXREDlU9a1VJ2IFvUha03YWwD7EpK3ob8-c4'],
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
          root_hash: 'S5HMUGPGRV5RdlciSU-0lzVyX_mfv5AWj99TaeIn5r8',
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
      log_id: '9VoxANgQvhxIgO7SfZ3RHvxzbwx8eUjrM_rqWzQIhMU',
      keys: [
        {
          key_id: 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0',
          public_key: '0qQ1i9sQJt2W9bzMaU91YDlV4o65l341r7MCLY4KF7I',
          valid_from: '2026-09-25T14:02:48.939Z',
          revoked_at: null,
          jwk: {
            kty: 'OKP',
            crv: 'Ed25519',
            kid: 'ed25519:Hv8EgYFYweYlce5rrUlB3dhMXs3sMWxFh124GnN7sP0',
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
          actions: ['codehost.commit.push'],
        },
      ],
      public_actions: ['codehost.commit.push'],
    },
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
