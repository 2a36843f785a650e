/**
 * Takes hints that something changed at a destination, and asks for a look at the claims that wait for it. A hint is no evidence, and moves no look of
 * a claim's own schedule: it causes one more.
 */
import type { HintSender } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import { SecretError } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import { isToken, newToken } from '../../base/tokens.ts'
import type { Counters } from '../../http/counters.ts'
import { type Credential, spenderOf } from '../../http/credential.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { ConcernedClaim, HintAddressRow } from '../../storage/hints.ts'
import { hintContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { ClaimService, ClaimStatus } from '../claims/claims.ts'
import { concerns, type Headers, type Hint, hintsIn, provenSender } from './senders.ts'

interface HintsOptions {
  readonly storage: Storage
  readonly registry: Pick<Registry, 'connectionType'>
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly counters: Counters
  readonly claims: Pick<ClaimService, 'get'>
  readonly meters: Meters
  readonly now: () => Instant
}

/** The most hints of a connection in a minute that are read. */
const MOST_A_MINUTE = 300
/** The most claims that one hint concerns, the newest. */
const MOST_CLAIMS = 100
/** The most waiting claims that are read for one hint, and how many of them at a time. */
const MOST_READ = 5000
const PAGE = 250
/** The most looks beside the schedule of a claim: its receipt lists them. */
export const MOST_LOOKS = 60
/** The precision of the time of an address's last hint. */
const HEARD_EVERY_MS = 60_000

/** The outcomes of messages. `taken`: claims are looked at. `idle`: no claim waits for it. `beyond`: over the most of a minute. */
const OUTCOMES = ['taken', 'idle', 'refused', 'beyond'] as const

/** The sender at an address that does not exist. */
const NOBODY: readonly HintSender[] = [
  { title: '', help: '', targets: [], proof: { header: 'x-hub-signature-256', by: 'hmac' } },
]

export type Hints = ReturnType<typeof createHints>

export function createHints(parts: HintsOptions) {
  const { storage, registry, counters, claims, meters, now } = parts
  const help = 'Messages at addresses for hints, by what became of them'
  const { inc } = meters.counterOf('hints_received_total', help, 'outcome', OUTCOMES)
  /** An address that does not exist, with a secret that nobody knows: looking for it costs what looking for a good one does. */
  const nowhere = { address: newToken(), secret: newToken() }
  let sealedNowhere: string | undefined
  let asked: () => void = () => {}

  /** Finds the address if it is good, and the sender if the body has its proof. Costs the same if neither is. */
  async function proven(address: string, headers: Headers, body: Buffer) {
    const row = await storage.read.hints.address(isToken(address) ? address : nowhere.address)
    sealedNowhere ??= parts.secrets.seal(nowhere.secret, hintContext(nowhere.address))
    const sealed = row?.sealedSecret ?? sealedNowhere
    const senders = row ? (registry.connectionType(row.provider)?.hints ?? []) : NOBODY
    const sender = provenSender(senders, openOrNot(sealed, row?.address ?? nowhere.address), headers, body)
    return row && sender ? { row, sender } : undefined
  }

  /** Opens a secret; another one that proves nothing, where it is sealed under a lost key. */
  function openOrNot(sealed: string, address: string): string {
    try {
      return parts.secrets.open(sealed, hintContext(address))
    } catch (error) {
      if (error instanceof SecretError) return nowhere.secret
      throw error
    }
  }

  async function hear(address: string, headers: Headers, body: Buffer): Promise<(typeof OUTCOMES)[number]> {
    const known = await proven(address, headers, body)
    if (!known) return 'refused'
    const { row, sender } = known
    if ((await counters.add('hints', row.connectionId)).count > MOST_A_MINUTE) return 'beyond'
    const hints = hintsIn(sender, body)
    const targets = [...new Set(hints.flatMap((hint) => hint.targets))]
    const concerned = targets.length > 0 ? await concernedBy(hints, targets, row) : []
    const isFirst = now() - (row.heardAt ?? 0) >= HEARD_EVERY_MS
    if (concerned.length > 0 || isFirst) {
      await storage.write(async (tx) => {
        if (isFirst) await tx.hints.heard(row.address, now())
        await ask(
          tx,
          concerned.map(({ claimId }) => claimId),
        )
      })
    }
    if (concerned.length === 0) return 'idle'
    asked()
    return 'taken'
  }

  /** Finds the newest claims that hints concern. Of one target there may be many for other things at it. */
  async function concernedBy(hints: readonly Hint[], targets: readonly string[], row: HintAddressRow) {
    const found: ConcernedClaim[] = []
    let last: ConcernedClaim | undefined
    for (let read = 0; read < MOST_READ && found.length < MOST_CLAIMS; read += PAGE) {
      const page = await storage.read.hints.concerned(row, targets, PAGE, last)
      found.push(
        ...page.filter(({ target, params }) =>
          hints.some((hint) => hint.targets.includes(target.toLowerCase()) && concerns(hint, params)),
        ),
      )
      last = page.at(-1)
      if (page.length < PAGE) break
    }
    return found.slice(0, MOST_CLAIMS)
  }

  function ask(tx: Writes, claimIds: readonly string[]): Promise<void> {
    return tx.hints.ask(claimIds, now(), MOST_LOOKS)
  }

  return {
    /**
     * Takes a message at an address. What becomes of it is not told: whoever sends it learns nothing of the address, and of what waits.
     * @throws StorageError `unavailable`
     */
    async receive(address: string, headers: Headers, body: Buffer): Promise<void> {
      inc(await hear(address, headers, body))
    },
    /**
     * Asks for a look at a claim, for the one who submitted it.
     * @throws ServiceError `not_found`; `forbidden` for another credential; `conflict` where the claim is decided
     */
    async askFor(credential: Credential, claimId: string): Promise<ClaimStatus> {
      const { workspaceId } = credential
      const row = await storage.read.claims.byId(workspaceId, claimId)
      if (!row) throw new ServiceError('not_found', 'there is no such claim')
      if (row.submittedBy !== spenderOf(credential))
        throw new ServiceError('forbidden', 'only the key that submitted the claim may ask for a look')
      if (row.state === 'decided')
        throw new ServiceError('conflict', 'the claim is decided: nothing is looked at again')
      await storage.write((tx) => ask(tx, [claimId]))
      asked()
      return (await claims.get(workspaceId, claimId))!
    },
    /** @param listener called after a look was asked for on this host */
    onAsked(listener: () => void): void {
      asked = listener
    },
  }
}
