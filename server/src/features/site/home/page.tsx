/** The home for strangers: what this is, who runs it, by which key, and how to check a receipt. */
import type { SignedTreeHead } from '@claimcheck/core/log'
import { parseInstant } from '@claimcheck/core/rules'
import { paths } from '../../../web/console-paths.ts'
import { Facts } from '../../../web/parts/facts.tsx'
import { ExactTime, Hash } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'

export interface HomeProps {
  readonly head: SignedTreeHead
  /** The number of receipts that the chain covers; undefined where none were anchored. */
  readonly anchored: number | undefined
  readonly issuer: string | undefined
  readonly contact: string | undefined
  /** The address of this service. */
  readonly address: string
  readonly hasConsole: boolean
  /** The text that was typed as a receipt, which names none. */
  readonly typed?: string
}

export function HomePage({ head, anchored, issuer, contact, address, hasConsole, typed }: HomeProps) {
  const { tree_size, issued_at } = head.body
  return (
    <PublicPage title="Receipts for what software agents say they did">
      <h1>Receipts for what software agents say they did</h1>
      <p>
        An agent says that it did something: pushed a commit, published a package, sent a mail. This service looks at
        the place itself, decides, and signs a receipt that anybody can check.{' '}
        <a href={`${publicPaths.docs}/concepts`}>How it works</a>
      </p>
      <Check typed={typed} />
      <div class="columns">
        <section aria-labelledby="issuer">
          <h2 id="issuer">Who vouches</h2>
          <Facts
            rows={[
              ['Issuer', issuer ?? `the operator of ${address}`],
              ['Key', <Hash value={head.signature.key_id} label="the key" ends={12} />],
              ['Published at', <a href="/.well-known/poaw-keys.json">{`${address}/.well-known/poaw-keys.json`}</a>],
              ['Contact', contact && <a href={contact}>{contact.replace(/^(?:mailto|tel):/, '')}</a>],
            ]}
          />
        </section>
        <section aria-labelledby="log">
          <h2 id="log">Its log</h2>
          <Facts
            rows={[
              ['Receipts', tree_size.toLocaleString('en')],
              ['Signed', <ExactTime at={parseInstant(issued_at)!} />],
              ['On the chain', anchored?.toLocaleString('en')],
            ]}
          />
          <p>
            <a href={publicPaths.log}>Open the log</a>
          </p>
        </section>
      </div>
      {hasConsole && (
        <p>
          <a class="button" href={paths.home}>
            Open the console
          </a>
        </p>
      )}
    </PublicPage>
  )
}

function Check({ typed }: Pick<HomeProps, 'typed'>) {
  return (
    <section class="card" aria-labelledby="check">
      <h2 id="check">Check a receipt</h2>
      <form method="get" action={publicPaths.home} class="inline">
        <label>
          The id of a receipt, or its link
          <input
            name="receipt"
            required
            maxlength={500}
            placeholder="rcpt_…"
            value={typed}
            aria-invalid={typed !== undefined}
            aria-describedby={typed === undefined ? undefined : 'problem'}
          />
        </label>
        <button type="submit">Check</button>
      </form>
      {typed !== undefined && (
        <p class="notice problem" role="alert" id="problem">
          This names no receipt: copy the whole id, which begins with rcpt_, or the whole link.
        </p>
      )}
      <p>
        A file? <a href={publicPaths.checker}>The offline checker</a> reads it in your browser.
      </p>
    </section>
  )
}
