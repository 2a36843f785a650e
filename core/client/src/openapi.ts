/** The wire types, made by `npm run client-types` from the OpenAPI document of the service. Change that, and not this. */

export interface paths {
    readonly "/.well-known/poaw-keys.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read the keys that verify receipts and tree heads */
        readonly get: operations["getKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/healthz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Check that the process is alive */
        readonly get: operations["getHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check that the service can do its work
         * @description 503 with the reasons while claims cannot be stored: the database takes no writes or cannot be read, the host is read-only, or the time is in doubt.
         */
        readonly get: operations["getReadiness"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz/read": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check that receipts and the log can be read
         * @description 200 also while claims cannot be stored. Load balancers route reads by it.
         */
        readonly get: operations["getReadReadiness"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/claims": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the workspace's claims, newest first */
        readonly get: operations["listClaims"];
        readonly put?: never;
        /**
         * Submit a claim
         * @description The claim is durable when the answer arrives. A claim that can be decided at once is decided in the answer; the service checks any other claim again until its deadline.
         */
        readonly post: operations["submitClaim"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/claims/{claim_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read the status of a claim */
        readonly get: operations["getClaim"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/connections": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the workspace's active connections, oldest first */
        readonly get: operations["listConnections"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/log/anchors": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the landed anchors of the log, newest first */
        readonly get: operations["listAnchors"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/log/consistency": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Prove that a smaller tree is a prefix of a larger tree */
        readonly get: operations["getConsistencyProof"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/log/entries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List entries in order: leaf index, leaf hash and time */
        readonly get: operations["listLogEntries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/log/head": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read the newest signed tree head and the newest anchor */
        readonly get: operations["getLogHead"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/log/proof": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Prove that a leaf is in the tree of a given size */
        readonly get: operations["getInclusionProof"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/profiles": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the rules by which claims are judged
         * @description In every version that is loaded.
         */
        readonly get: operations["listProfiles"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/receipts/{receipt_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read a signed receipt with the proof that it is in the log
         * @description A client that prefers HTML to JSON, as browsers do, is sent to the page of the receipt.
         */
        readonly get: operations["getReceipt"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/receipts/{receipt_id}/evidence": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the evidence of a receipt
         * @description The checks that the verdict follows from, byte for byte as the receipt signs their digest.
         */
        readonly get: operations["getEvidence"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/whoami": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read which workspace the credential belongs to, and what it permits */
        readonly get: operations["whoami"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Anchor */
        readonly Anchor: {
            readonly block_number: number;
            /** @description Unix seconds. */
            readonly block_time: number;
            /**
             * @description CAIP-2.
             * @example eip155:84532
             */
            readonly chain: string;
            /** @description SHA-256, base64url without padding. */
            readonly root_hash: string;
            /** @example eas */
            readonly scheme: string;
            readonly tree_size: number;
            readonly tx_hash: string;
            /** @description The attestation's id. */
            readonly uid: string;
        };
        /** AnchorList */
        readonly AnchorList: {
            /** @description Newest first. */
            readonly anchors: readonly components["schemas"]["Anchor"][];
            readonly next: number | null;
        };
        /** ClaimList */
        readonly ClaimList: {
            /** @description Newest first. */
            readonly claims: readonly components["schemas"]["ClaimStatus"][];
            readonly next_cursor: string | null;
        };
        /** ClaimRequest */
        readonly ClaimRequest: {
            /**
             * @description What is claimed.
             * @example codehost.commit.push
             */
            readonly action: string;
            /**
             * @description Who claims.
             * @example release-bot
             */
            readonly agent_id: string;
            /**
             * Format: date-time
             * @description When it was done, according to the agent. RFC 3339 with any offset; it is recorded in UTC, cut to milliseconds.
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly claimed_at: string;
            /**
             * @description Chosen by the client. Submitting the same value again returns the same claim.
             * @example run-4711
             */
            readonly client_claim_id: string;
            /**
             * Format: date-time
             * @description Until when to look for the outcome, with any offset. Each action has its own default and limits.
             */
            readonly deadline_at?: string;
            /**
             * @description What exactly was done, in the terms of the action. At most 4 KiB. May be left out where the action needs none.
             * @example {
             *       "sha": "0123456789abcdef0123456789abcdef01234567",
             *       "branch": "main"
             *     }
             */
            readonly params?: Record<string, unknown>;
            /**
             * @description Where it was done.
             * @example octo-org/hello-world
             */
            readonly target: string;
        };
        /** ClaimStatus */
        readonly ClaimStatus: {
            readonly action: string;
            readonly agent_id: string;
            /** @description Checks made so far. */
            readonly attempts: number;
            /** @description A hash of the claim. It shows whether the claim that is stored under this client_claim_id is the submitted one. */
            readonly claim_digest: string;
            readonly claim_id: string;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly claimed_at: string;
            readonly client_claim_id: string;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly deadline_at: string;
            readonly erased?: components["schemas"]["Erasure"];
            readonly last_check: components["schemas"]["LastCheck"] | null;
            readonly next_check_at: string | null;
            readonly reason_code: ("observed_after_tolerance" | "content_mismatch" | "target_mismatch" | "not_found" | "no_connection" | "permission_denied" | "rate_limited" | "destination_unavailable" | "unsupported_action" | "claim_ambiguous" | "verifier_error") | null;
            readonly receipt_id: string | null;
            /**
             * @description `queued` claims are checked again until their deadline.
             * @enum {unknown}
             */
            readonly state: "queued" | "decided";
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly submitted_at: string;
            readonly target: string;
            readonly verdict: ("verified" | "late" | "mismatch" | "failed" | "unverifiable") | null;
        };
        /** Connection */
        readonly Connection: {
            /** @description What can be claimed through it: actions, and their other names. Empty: no loaded plugin reads through this connection. */
            readonly actions: readonly string[];
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly connected_at: string;
            readonly id: string;
            /**
             * @description What its owners call it.
             * @example GitHub, acme
             */
            readonly name: string;
            /** @example github */
            readonly provider: string;
            /** @description The permissions that its credentials have. */
            readonly scopes: readonly string[];
        };
        /** ConnectionList */
        readonly ConnectionList: {
            /** @description Active ones, oldest first. */
            readonly connections: readonly components["schemas"]["Connection"][];
            /** @description What can be claimed without a connection: actions, and their other names. */
            readonly public_actions: readonly string[];
        };
        /** ConsistencyProof */
        readonly ConsistencyProof: {
            readonly first: number;
            /** @description SHA-256, base64url without padding. */
            readonly first_root: string;
            /** @description SHA-256, base64url without padding. */
            readonly log_id: string;
            /** @description RFC 9162, 2.1.4. Empty for equal sizes. */
            readonly proof: readonly string[];
            readonly second: number;
            /** @description SHA-256, base64url without padding. */
            readonly second_root: string;
        };
        /** CredentialDescription */
        readonly CredentialDescription: {
            readonly audience: string | null;
            /** @enum {unknown} */
            readonly kind: "key" | "oauth";
            readonly scopes: readonly string[] | null;
            readonly workspace_id: string;
        };
        /** Erased */
        readonly Erased: {
            /** @description That it was erased, when, and by which rule. */
            readonly detail: string;
            readonly erased: components["schemas"]["ErasedReceipt"];
        };
        /** ErasedReceipt */
        readonly ErasedReceipt: {
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly erased_at: string;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly issued_at: string;
            /** @description SHA-256, base64url without padding. */
            readonly leaf_hash: string;
            /** @description Its entry in the log, which stays. */
            readonly leaf_index: number;
            readonly receipt_id: string;
            readonly reference: string | null;
            /**
             * @description Why: a code.
             * @example court_order
             */
            readonly rule: string;
        };
        /**
         * Erasure
         * @description Given when the content of the claim was erased. Its agent, target and other texts are then empty; ids, times and verdict stay.
         */
        readonly Erasure: {
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly erased_at: string;
            readonly reference: string | null;
            /**
             * @description Why: a code.
             * @example court_order
             */
            readonly rule: string;
        };
        /** Error */
        readonly Error: {
            /** @description What is wrong. */
            readonly detail: string;
        };
        /** Evidence */
        readonly Evidence: {
            /** @description Every check, oldest first. */
            readonly checks: readonly (components["schemas"]["EvidenceRead"] | components["schemas"]["EvidenceFailure"])[];
            readonly claim: {
                /** @description SHA-256, base64url without padding. */
                readonly claim_digest: string;
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly claimed_at: string;
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly deadline_at: string;
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly submitted_at: string;
            };
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly decided_at: string;
            /** @enum {number} */
            readonly evidence_version: 1;
            readonly profile: {
                readonly action: string;
                readonly version: string;
            };
            readonly rules: {
                /** @description Milliseconds. */
                readonly age_ms: number;
                /** @description Milliseconds. */
                readonly closing_ms: number;
                /** @description Milliseconds. */
                readonly fresh_ms: number;
                /** @description Milliseconds. */
                readonly grace_ms: number;
                /** @enum {boolean} */
                readonly never_late?: true;
                /** @description Milliseconds. */
                readonly removed_within_ms: number;
                readonly required: Record<string, unknown>;
                /** @description Milliseconds. */
                readonly tolerance_ms: number;
            };
            readonly rules_version: number;
        };
        /** EvidenceFailure */
        readonly EvidenceFailure: {
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly answered_at: string;
            readonly failure: {
                /** @enum {unknown} */
                readonly code: "unauthorized" | "forbidden" | "no_connection" | "rate_limited" | "unavailable" | "timeout" | "unexpected_response" | "too_large" | "misconfigured" | "unsupported_target" | "ambiguous_claim" | "unsupported_action" | "verifier_error";
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly retry_at?: string;
                readonly status?: number;
            };
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly sent_at: string;
        };
        /** EvidenceRead */
        readonly EvidenceRead: {
            /** @description How old the answer may be. Milliseconds. */
            readonly age_ms: number;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly answered_at: string;
            /** @description Milliseconds. */
            readonly clock_offset_ms: number;
            /** @description The destination told its time. */
            readonly dated: boolean;
            readonly differs?: readonly string[];
            readonly facts?: Record<string, unknown>;
            /** @enum {unknown} */
            readonly kind: "present" | "absent";
            /** @enum {unknown} */
            readonly mark?: "final" | "never_before" | "may_have_been" | "unsettled";
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly sent_at: string;
            readonly source?: components["schemas"]["Source"];
            readonly stays?: readonly {
                readonly appeared: {
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly not_after: string;
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly not_before?: string;
                };
                readonly removed?: {
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly not_after: string;
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly not_before?: string;
                };
                readonly removed_whole?: boolean;
            }[];
        };
        /** Health */
        readonly Health: {
            /** @enum {string} */
            readonly status: "ok";
        };
        /** InclusionProof */
        readonly InclusionProof: {
            /** @description From the leaf to the root (RFC 9162, 2.1.3). */
            readonly inclusion: readonly string[];
            /** @description SHA-256, base64url without padding. */
            readonly leaf_hash: string;
            readonly leaf_index: number;
            /** @description SHA-256, base64url without padding. */
            readonly log_id: string;
            /** @description SHA-256, base64url without padding. */
            readonly root_hash: string;
            readonly tree_size: number;
        };
        /** KeyDocument */
        readonly KeyDocument: {
            readonly anchor_addresses: readonly string[];
            readonly anchor_schemas: readonly string[];
            readonly issuer: string;
            /** @description Retired keys stay listed. */
            readonly keys: readonly components["schemas"]["SigningKey"][];
            /** @description SHA-256, base64url without padding. */
            readonly log_id: string;
        };
        /** LastCheck */
        readonly LastCheck: {
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly at: string;
            /** @description With `failed`: why. */
            readonly code?: string;
            /** @description With `differs`: the fields that do not match. */
            readonly differs?: readonly string[];
            readonly facts?: Record<string, unknown>;
            /**
             * @description `failed`: the destination could not be read. This is never evidence for or against the agent.
             * @enum {unknown}
             */
            readonly result: "present" | "differs" | "absent" | "failed";
            /** @description With `failed`: the HTTP status of the answer. */
            readonly status?: number;
        };
        /** LogEntries */
        readonly LogEntries: {
            /** @description Ascending. */
            readonly entries: readonly components["schemas"]["LogEntry"][];
            readonly next: number | null;
            readonly tree_size: number;
        };
        /** LogEntry */
        readonly LogEntry: {
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly created_at: string;
            /** @description SHA-256, base64url without padding. */
            readonly leaf_hash: string;
            readonly leaf_index: number;
        };
        /** LogHead */
        readonly LogHead: {
            readonly anchor: components["schemas"]["Anchor"] | null;
            readonly tree_head: components["schemas"]["SignedTreeHead"];
        };
        /** Profile */
        readonly Profile: {
            readonly action: string;
            /** @description Milliseconds. */
            readonly age_ms: number;
            /** @description Milliseconds. */
            readonly closing_ms: number;
            /** @description Milliseconds. */
            readonly deadline_ms: number;
            /** @description Milliseconds. */
            readonly fresh_ms: number;
            /** @description Milliseconds. */
            readonly grace_ms: number;
            /** @description Milliseconds. */
            readonly max_deadline_ms: number;
            /** @enum {boolean} */
            readonly never_late?: true;
            /** @description Milliseconds. */
            readonly removed_within_ms: number;
            /** @description The fields that must match, each with its role. */
            readonly required: Record<string, unknown>;
            readonly rules_version: number;
            /** @description Facts that every read has which shows the outcome, where it has the fact at all. */
            readonly shows?: Record<string, unknown>;
            readonly summary: string;
            readonly titles: {
                /** @description The title of each fact. */
                readonly facts: {
                    readonly [key: string]: string;
                };
                /** @description The title of each param. */
                readonly params: {
                    readonly [key: string]: string;
                };
            };
            /** @description Milliseconds. */
            readonly tolerance_ms: number;
            readonly version: string;
            readonly words: components["schemas"]["ProfileWords"];
        };
        /** ProfileList */
        readonly ProfileList: {
            readonly profiles: readonly components["schemas"]["Profile"][];
        };
        /**
         * ProfileWords
         * @description Sentences for people. `{name}` stands for a fact, a param or `target`, in this order, and `{name:short}` for its first twelve characters. Of several sentences the first counts whose names all have a value.
         */
        readonly ProfileWords: {
            readonly claim: string | readonly string[];
            /** @description What a fact says beyond the outcome: always, or by its value. */
            readonly facts?: {
                readonly [key: string]: (string | readonly string[]) | {
                    readonly [key: string]: string | readonly string[];
                };
            };
            /** @description The fact that shows what was found for a param or for `target`, where it has another name. */
            readonly found?: {
                readonly [key: string]: string;
            };
            readonly outcomes: {
                readonly failed: string | readonly string[];
                readonly late: string | readonly string[];
                readonly mismatch: string | readonly string[];
                readonly verified: string | readonly string[];
            };
            /**
             * @description What kind of thing the target is.
             * @example Repository
             */
            readonly target: string;
            /**
             * @description What was done, as a title.
             * @example Push of a commit
             */
            readonly title: string;
        };
        /** Readiness */
        readonly Readiness: {
            readonly ok: boolean;
            readonly problems: readonly string[];
        };
        /** Receipt */
        readonly Receipt: {
            readonly body: {
                readonly agent: {
                    /**
                     * @description The workspace lets only certain API keys speak for this agent, and the claim came through one of them.
                     * @enum {boolean}
                     */
                    readonly bound?: true;
                    readonly id: string;
                };
                readonly claim: {
                    readonly action: string;
                    /** @description SHA-256, base64url without padding. */
                    readonly claim_digest: string;
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly claimed_at: string;
                    readonly client_claim_id: string;
                    readonly params: Record<string, unknown>;
                    readonly target: string;
                };
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly issued_at: string;
                readonly issuer: {
                    readonly key_id: string;
                    readonly name?: string;
                };
                readonly observation: {
                    readonly appeared?: {
                        /**
                         * Format: date-time
                         * @example 2026-09-25T14:02:11.000Z
                         */
                        readonly not_after: string;
                        /**
                         * Format: date-time
                         * @example 2026-09-25T14:02:11.000Z
                         */
                        readonly not_before?: string;
                        /** @enum {unknown} */
                        readonly source: "destination" | "observation";
                    };
                    readonly attempts: number;
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly deadline_at: string;
                    /** @description SHA-256 of the evidence, at `/v1/receipts/{receipt_id}/evidence`. */
                    readonly evidence_digest?: string;
                    readonly facts: Record<string, unknown>;
                    /**
                     * Format: date-time
                     * @example 2026-09-25T14:02:11.000Z
                     */
                    readonly observed_at: string;
                    readonly source?: components["schemas"]["Source"];
                    readonly verifier: components["schemas"]["Verifier"];
                };
                readonly receipt_id: string;
                /** @enum {unknown} */
                readonly spec_version: "poaw/0.1" | "poaw/0.2";
                readonly trust_level: number;
                readonly verdict: {
                    readonly reason_code?: string;
                    /** @enum {unknown} */
                    readonly value: "verified" | "late" | "mismatch" | "failed" | "unverifiable";
                };
            };
            readonly proof?: components["schemas"]["ReceiptProof"];
            readonly signature: components["schemas"]["Signature"];
        };
        /**
         * ReceiptProof
         * @description Proves that the receipt is in the log, and says where the log is anchored.
         */
        readonly ReceiptProof: {
            readonly anchor?: {
                /** @description CAIP-2. */
                readonly chain: string;
                /** @enum {string} */
                readonly scheme: "eas";
                readonly tree_size: number;
                readonly tx_hash: string;
                readonly uid: string;
            };
            readonly inclusion: readonly string[];
            readonly leaf_index: number;
            /** @description SHA-256, base64url without padding. */
            readonly log_id: string;
            /** @description SHA-256, base64url without padding. */
            readonly root_hash: string;
            readonly tree_size: number;
        };
        /** Signature */
        readonly Signature: {
            /** @enum {string} */
            readonly alg: "Ed25519";
            readonly key_id: string;
            readonly value: string;
        };
        /** SignedTreeHead */
        readonly SignedTreeHead: {
            readonly body: {
                /**
                 * Format: date-time
                 * @example 2026-09-25T14:02:11.000Z
                 */
                readonly issued_at: string;
                /** @description SHA-256, base64url without padding. */
                readonly log_id: string;
                /** @description SHA-256, base64url without padding. */
                readonly root_hash: string;
                readonly tree_size: number;
            };
            readonly signature: components["schemas"]["Signature"];
        };
        /** SigningKey */
        readonly SigningKey: {
            readonly key_id: string;
            /** @description The raw 32 bytes, base64url. */
            readonly public_key: string;
            readonly revoked_at: string | null;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly valid_from: string;
        };
        /** Source */
        readonly Source: {
            /** @example https://api.github.com */
            readonly base_url?: string;
            /** @description The operator lists the address as the public place of that provider. */
            readonly listed: boolean;
            /** @example github */
            readonly provider: string;
            /** @description In place of an address that the workspace withholds: the same for every read at it. */
            readonly source_id?: string;
        };
        /** SubmittedClaim */
        readonly SubmittedClaim: {
            readonly action: string;
            readonly agent_id: string;
            /** @description Checks made so far. */
            readonly attempts: number;
            /** @description A hash of the claim. It shows whether the claim that is stored under this client_claim_id is the submitted one. */
            readonly claim_digest: string;
            readonly claim_id: string;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly claimed_at: string;
            readonly client_claim_id: string;
            /** @description false: the claim existed already. */
            readonly created: boolean;
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly deadline_at: string;
            readonly erased?: components["schemas"]["Erasure"];
            readonly last_check: components["schemas"]["LastCheck"] | null;
            readonly next_check_at: string | null;
            readonly reason_code: ("observed_after_tolerance" | "content_mismatch" | "target_mismatch" | "not_found" | "no_connection" | "permission_denied" | "rate_limited" | "destination_unavailable" | "unsupported_action" | "claim_ambiguous" | "verifier_error") | null;
            readonly receipt_id: string | null;
            /**
             * @description `queued` claims are checked again until their deadline.
             * @enum {unknown}
             */
            readonly state: "queued" | "decided";
            /**
             * Format: date-time
             * @example 2026-09-25T14:02:11.000Z
             */
            readonly submitted_at: string;
            readonly target: string;
            readonly verdict: ("verified" | "late" | "mismatch" | "failed" | "unverifiable") | null;
        };
        /** ValidationError */
        readonly ValidationError: {
            readonly detail: readonly components["schemas"]["ValidationErrorItem"][];
            /**
             * @description The same in one line, for readers that show text.
             * @example body.claimed_at: Field required
             */
            readonly message: string;
        };
        /** ValidationErrorItem */
        readonly ValidationErrorItem: {
            readonly ctx?: {
                readonly [key: string]: unknown;
            };
            readonly input?: unknown;
            /**
             * @example [
             *       "body",
             *       "params",
             *       "sha"
             *     ]
             */
            readonly loc: readonly (string | number)[];
            readonly msg: string;
            /** @example string_pattern_mismatch */
            readonly type: string;
        };
        /** Verifier */
        readonly Verifier: {
            /** @description SHA-256 of that plugin's files. */
            readonly code_hash?: string;
            /**
             * @description The action whose rules gave the verdict.
             * @example codehost.commit.push
             */
            readonly id: string;
            /**
             * @description The package of the plugin that made the check on which the verdict rests.
             * @example @claimcheck/plugin-codehost
             */
            readonly package?: string;
            readonly package_version?: string;
            /** @description The version of those rules. */
            readonly version: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getKeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeyDocument"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly getReadiness: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    readonly getReadReadiness: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    readonly listClaims: {
        readonly parameters: {
            readonly query?: {
                readonly action?: string;
                readonly agent_id?: string;
                /** @description The `next_cursor` of the page before. */
                readonly cursor?: string;
                readonly limit?: number;
                /** @description `queued` claims are checked again until their deadline. */
                readonly state?: "queued" | "decided";
                /** @description What the evidence says about the claim. */
                readonly verdict?: "verified" | "late" | "mismatch" | "failed" | "unverifiable";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClaimList"];
                };
            };
            /** @description Bad Request */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unauthorized */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly submitClaim: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        readonly responses: {
            /** @description Accepted */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SubmittedClaim"];
                };
            };
            /** @description Unauthorized */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Payload Too Large */
            readonly 413: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unsupported Media Type */
            readonly 415: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getClaim: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly claim_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClaimStatus"];
                };
            };
            /** @description Unauthorized */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly listConnections: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConnectionList"];
                };
            };
            /** @description Unauthorized */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly listAnchors: {
        readonly parameters: {
            readonly query?: {
                /** @description Only anchors of smaller trees: the `next` of the page before. */
                readonly before?: number;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AnchorList"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getConsistencyProof: {
        readonly parameters: {
            readonly query: {
                readonly first: number;
                /** @description The current size when absent. */
                readonly second?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ConsistencyProof"];
                };
            };
            /** @description Bad Request */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly listLogEntries: {
        readonly parameters: {
            readonly query?: {
                readonly limit?: number;
                /** @description The first leaf index of the page. Without it: the newest entries. */
                readonly start?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LogEntries"];
                };
            };
            /** @description Bad Request */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getLogHead: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LogHead"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getInclusionProof: {
        readonly parameters: {
            readonly query: {
                readonly leaf_index: number;
                /** @description The current size when absent. */
                readonly tree_size?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["InclusionProof"];
                };
            };
            /** @description Bad Request */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unprocessable Entity */
            readonly 422: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ValidationError"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly listProfiles: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProfileList"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getReceipt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly receipt_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Gone */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Erased"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getEvidence: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly receipt_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Evidence"];
                };
            };
            /** @description Not Found */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Gone */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Erased"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly whoami: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OK */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CredentialDescription"];
                };
            };
            /** @description Unauthorized */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Forbidden */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too Many Requests */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Service Unavailable */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
