/** The page of a claim with erased content. */

import { visible } from '@claimcheck/core/words/plain-text'
import { ruleWords } from '../../../base/erasure-rules.ts'
import type { ErasureRow } from '../../../storage/erasures.ts'
import { Facts } from '../../../web/parts/facts.tsx'
import { ActionName, ExactTime, Hash, Verdict } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import type { ClaimStatus } from '../../claims/claims.ts'
import { ConsolePage } from '../page.tsx'

interface ErasedClaimProps {
  readonly claim: ClaimStatus
  readonly erasure: ErasureRow
  /** What people call its action; undefined where no loaded plugin checks it. */
  readonly title: string | undefined
}

export function ErasedClaim({ claim, erasure, title }: ErasedClaimProps) {
  const { receiptId, erasedAt, rule, reference } = erasure
  return (
    <ConsolePage title="The content of this claim was erased" section="claims">
      <p class="standing">
        <Verdict value={claim.verdict} /> Erased <ExactTime at={erasedAt} />, because of{' '}
        {visible(ruleWords(rule, reference))}.
      </p>
      <p>
        Its agent, target and params are gone, its checks, and the content of its receipt with the evidence. They cannot
        be brought back. The <a href={publicPaths.receipt(receiptId)}>page of the receipt</a> tells everybody the same,
        and shows the entry that the log keeps. Submitting the claim again returns this one, and issues no second
        receipt.
      </p>
      <Facts
        rows={[
          ['Action', claim.action === '' ? null : <ActionName action={claim.action} title={title} />],
          ['Claimed at', <ExactTime at={claim.claimedAt} />],
          ['Submitted', <ExactTime at={claim.submittedAt} />],
          ['Checks', String(claim.attempts)],
          ['Claim ID', <Hash value={claim.claimId} label="the claim ID" ends={15} />],
          ['Receipt ID', <Hash value={receiptId} label="the receipt ID" ends={15} />],
        ]}
      />
    </ConsolePage>
  )
}
