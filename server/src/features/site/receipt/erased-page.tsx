/** The page of an erased receipt: when and by which rule it was erased, and what is left. */

import { visible } from '@claimcheck/core/words/plain-text'
import { utc } from '@claimcheck/core/words/when'
import { ruleWords } from '../../../storage/erasure-rules.ts'
import type { ErasureRow } from '../../../storage/erasures.ts'
import type { CommandLine } from '../../../web/command-line.ts'
import { Facts } from '../../../web/parts/facts.tsx'
import { ExactTime, Hash } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'
import { logPaths } from '../log/parts.tsx'

export const ERASED_TITLE = 'The content of this receipt was erased'

interface ErasedPageProps {
  readonly receipt: ErasureRow
  readonly commandLine: CommandLine
}

export function ErasedPage({ receipt, commandLine }: ErasedPageProps) {
  const { receiptId, issuedAt, erasedAt, rule, reference, leafIndex, leafHash } = receipt
  return (
    <PublicPage title={ERASED_TITLE} head={<meta name="robots" content="noindex" />}>
      <article class="receipt tone-unverifiable">
        <header>
          <p class="outcome">Erased</p>
          <h1>{ERASED_TITLE}</h1>
          <p class="lead">
            On {utc(erasedAt)}, because of {visible(ruleWords(rule, reference))}. This says nothing for or against the
            agent.
          </p>
        </header>
        <section class="part" aria-labelledby="left">
          <h2 id="left">What is left</h2>
          <p>
            The log keeps the entry of the receipt: its place, its hash and its time. Everything in the log still holds.
          </p>
          <Facts
            rows={[
              ['Entry', <a href={logPaths.entry(leafIndex)}>{leafIndex}</a>],
              [
                'Hash',
                <Hash value={Buffer.from(leafHash).toString('base64url')} label="the hash of the entry" ends={40} />,
              ],
              ['Issued', <ExactTime at={issuedAt} />],
              ['Receipt', <Hash value={receiptId} label="the receipt ID" ends={40} />],
            ]}
          />
        </section>
        <section class="part" aria-labelledby="copy">
          <h2 id="copy">If you have a copy</h2>
          <p>
            A copy of the receipt, with its signature and its proof, still verifies: with the{' '}
            <a href={publicPaths.checker} download="claimcheck-checker.html">
              offline checker
            </a>
            , or, {commandLine.where}, with <code>{commandLine.program} verify</code>. Its hash is then that of the
            entry above. The service must not serve this content any longer: think of that before you pass the copy on.
          </p>
        </section>
      </article>
    </PublicPage>
  )
}
