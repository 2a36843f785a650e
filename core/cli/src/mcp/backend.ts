/** Describes the service as the tools ask it, in the forms of the API: inside of the service by its own code, elsewhere by its client. */
import type {
  ClaimList,
  ClaimQuery,
  ClaimRequest,
  ClaimStatus,
  ConnectionList,
  ProfileList,
  SubmittedClaim,
} from '@claimcheck/core/api'
import type { BundleReport } from '@claimcheck/core/checker'

/** The service as the tools ask it. Every call throws a BackendError, or the reason of its signal. */
export interface Backend {
  /** Lists the actions that can be claimed, with the rules of their claims. */
  actions(): Promise<readonly ActionRules[]>
  profiles(): Promise<ProfileList>
  connections(): Promise<ConnectionList>
  submit(claim: ClaimRequest): Promise<SubmittedClaim>
  /** Tells the time by the service's clock, in milliseconds of Unix time: this computer's may be wrong. */
  now(): Promise<number>
  claim(claimId: string): Promise<ClaimStatus>
  /** Has a function called soon after a claim was decided, whichever it is; absent where nobody tells. @returns the function that ends this */
  onDecision?(wake: () => void): () => void
  claims(query: ClaimQuery): Promise<ClaimList>
  /** The receipt as text: checkers read the text itself. */
  receipt(receiptId: string): Promise<string>
  verify(receiptId: string): Promise<BundleReport>
  /** The agent that a claim names when its caller leaves it out. Defaults to the name of the client. */
  readonly agentId?: string | undefined
  /** The side that checked a receipt, for the words of the answer. */
  readonly checkedBy: 'service' | 'client'
}

/** The schemas of one action's target and params, under each of its names. */
export interface ActionRules {
  readonly names: readonly string[]
  readonly target: object
  readonly params: object
}

/** The error of a service that refused, or could not be asked, with the status that the REST API answers. */
export class BackendError extends Error {
  override readonly name = 'BackendError'
  /** The HTTP status of the answer; 0 if there was no answer. */
  readonly status: number
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, detail: string, retryAfterSeconds?: number) {
    super(detail)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Reads the rules of actions off the schema of claims, which the service and its OpenAPI description share. */
export function actionRules(claimSchema: unknown): ActionRules[] {
  const { allOf = [] } = claimSchema as { readonly allOf?: readonly ActionCondition[] }
  return allOf.flatMap(({ if: condition, then: rules }) => {
    const names = condition?.properties?.action?.enum
    return names && rules?.properties ? [{ names, ...rules.properties }] : []
  })
}

interface ActionCondition {
  readonly if?: { readonly properties?: { readonly action?: { readonly enum?: readonly string[] } } }
  readonly then?: { readonly properties?: { readonly target: object; readonly params: object } }
}
