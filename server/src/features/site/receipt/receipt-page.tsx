/** A receipt for people: the finding first, then its grounds. The service renders it, and the visitor's browser again once it has checked. */
import type { Bundle } from '@claimcheck/core/receipts'
import { UNVOUCHED_WORDS } from '@claimcheck/core/words/checks'
import { visible, visibleJson } from '@claimcheck/core/words/plain-text'
import { utc } from '@claimcheck/core/words/when'
import type { ComponentChildren } from 'preact'
import { Comparison } from '../../../web/parts/comparison.tsx'
import { Facts, List } from '../../../web/parts/facts.tsx'
import { MARKS } from '../../../web/parts/icons.tsx'
import { PluginSays } from '../../../web/parts/plugin-says.tsx'
import { Code, Hash, ShortDigests } from '../../../web/parts/values.tsx'
import type { Step } from '../../../web/receipt-view/steps.ts'
import { headingOf, type ReceiptView } from '../../../web/receipt-view/view.ts'
import { sentence } from '../../../web/words.tsx'
import { badgeText } from './badge.ts'
import { Proofs } from './proofs.tsx'
import { TimelineFigure } from './timeline-figure.tsx'

/** The addresses of a receipt's page, documents and tools. */
export interface ReceiptLinks {
  /** The absolute address of the page. */
  readonly page: string
  readonly bundle: string
  readonly badge: string
  readonly checker: string
  /** The icon of a page that shows no receipt. */
  readonly plainIcon: string
  /** The absolute address of the signed document. */
  readonly document: string
  /** The command that checks the document. */
  readonly verify: string
  /** The place or tool that the command needs, to follow "on the command line, ". */
  readonly verifyWhere: string
  /** Sentences on what became of the outcome since, each with the address of its signed finding, if it has one. */
  readonly since: readonly { readonly words: string; readonly finding: string | undefined }[]
}

export interface ReceiptArticleProps {
  readonly view: ReceiptView
  readonly steps: readonly Step[]
  /** A sentence that tells when the proofs were checked, and by what; undefined if they were not. */
  readonly checkedBy: string | undefined
  /** The receipt's links; undefined where it came from a file. */
  readonly links: ReceiptLinks | undefined
  /** Documents by their title, as they arrived. */
  readonly raw: readonly (readonly [title: string, text: string])[]
}

const DOCUMENT_TITLES: readonly (readonly [keyof Bundle, string])[] = [
  ['receipt', 'The receipt'],
  ['evidence', 'The evidence'],
  ['keys', 'The keys of the issuer'],
  ['tree_head', 'The signed tree head'],
  ['consistency', 'The consistency proof'],
]

/** Lists the documents of a bundle with their titles, for people who want to read them as they are. */
export function rawDocuments(bundle: Bundle): ReceiptArticleProps['raw'] {
  return DOCUMENT_TITLES.flatMap(([name, title]) => {
    const text = bundle[name]
    return text === undefined ? [] : [[title, text] as const]
  })
}

/** Writes the title of the tab and of previews. */
export function titleOf(view: ReceiptView): string {
  return visible(`${headingOf(view)}: ${view.finding}`)
}

export function ReceiptArticle({ view, steps, checkedBy, links, raw }: ReceiptArticleProps) {
  const isUnvouched = view.tone === 'unvouched'
  const Mark = isUnvouched || view.tone === 'doubtful' ? MARKS.unverifiable : MARKS[view.verdict]
  const failed = steps.filter(({ state }) => state === 'fails')
  return (
    <article class={`receipt tone-${view.tone}`}>
      <header>
        {failed.length > 0 && (
          <p class="notice problem" role="alert">
            Do not rely on this receipt. What fails: {failed.map(({ title }) => title).join(', ')}.
          </p>
        )}
        <p class="outcome">
          <Mark /> {headingOf(view)}
        </p>
        <h1>
          {isUnvouched && 'It says: '}
          {visible(view.finding)}
        </h1>
        {isUnvouched && <p class="lead">{UNVOUCHED_WORDS}</p>}
        {view.reason && <p class="lead">{view.reason}</p>}
        <p class="lead">{view.when}</p>
        {links?.since.map(({ words, finding }) => (
          <p class="notice">
            {words} {finding !== undefined && <a href={finding}>The signed finding</a>}
          </p>
        ))}
      </header>
      <Part title="Claimed and found">
        <p>
          {view.claimed === undefined ? 'Claimed by the agent ' : 'The agent '}
          <bdi>{view.agent}</bdi>
          {view.claimed === undefined ? '.' : ` says: ${visible(view.claimed)}`}
        </p>
        {view.agentSentences.length > 0 && <p>{view.agentSentences.join(' ')}</p>}
        <Comparison fields={view.fields} />
        <List items={view.sentences.map(visible)} />
        <PluginSays sentences={view.pluginSays} />
      </Part>
      <Part title="Destination">
        <p>
          <strong>
            <bdi>{view.destination.address}</bdi>
          </strong>
        </p>
        <p>{visible(view.destination.chosenBy)}</p>
      </Part>
      <Part title="Time line">
        <TimelineFigure timeline={view.timeline} />
      </Part>
      <Part title="Proofs">
        <Proofs steps={steps} checkedBy={checkedBy} command={links?.verify} />
      </Part>
      <Part title="Who says so">
        <Facts
          rows={[
            [isUnvouched ? 'Issuer, as the file says' : 'Issuer', view.issuer && <bdi>{view.issuer}</bdi>],
            ['Issuer’s key', <Hash value={view.keyId} label="the key" ends={16} />],
            ['Rules', view.profileVersion],
            ['Checked by', view.checkedBy && <ShortDigests text={visible(view.checkedBy)} />],
            ['Issued', utc(view.timeline.issuedAt)],
            ['Receipt', <Hash value={view.receiptId} label="the receipt ID" ends={40} />],
          ]}
        />
      </Part>
      <Part title="What it does not show">
        <ul>
          {view.limits.map((limit) => (
            <li>{limit}</li>
          ))}
          {links && (
            <li>
              The code that checks on this page comes from the issuer, too. To trust no server, use the{' '}
              <a href={links.checker} download="claimcheck-checker.html">
                offline checker
              </a>{' '}
              or the command line.
            </li>
          )}
        </ul>
      </Part>
      {links && <TakeAway view={view} links={links} />}
      <RawData raw={raw} />
    </article>
  )
}

/**
 * The page of a document that is not valid, which attributes nothing in it to anyone.
 * @param problem why it is not valid
 */
export function NotValid({
  problem,
  steps,
  checkedBy,
  raw,
}: Pick<ReceiptArticleProps, 'steps' | 'checkedBy' | 'raw'> & { problem: string }) {
  return (
    <article class="receipt tone-doubtful">
      <header>
        <p class="outcome">Not valid</p>
        <h1>{sentence(problem)}</h1>
        <p class="lead">Do not rely on anything in this document. Ask its issuer for the receipt again.</p>
      </header>
      {steps.length > 0 && (
        <Part title="Proofs">
          <Proofs steps={steps} checkedBy={checkedBy} command={undefined} />
        </Part>
      )}
      <RawData raw={raw} />
    </article>
  )
}

function RawData({ raw }: Pick<ReceiptArticleProps, 'raw'>) {
  return (
    <Part title="Raw data" onScreen>
      {raw.map(([title, text]) => (
        <details>
          <summary>{title}</summary>
          <Code text={readable(text)} label={title} />
        </details>
      ))}
    </Part>
  )
}

interface PartProps {
  readonly title: string
  /** True to leave the part out on paper. */
  readonly onScreen?: boolean
  readonly children: ComponentChildren
}

/** A part of the page with a heading. */
function Part({ title, onScreen = false, children }: PartProps) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section class={onScreen ? 'part on-screen' : 'part'} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

function TakeAway({ view, links }: { view: ReceiptView; links: ReceiptLinks }) {
  const alt = badgeText(view.tone)
  return (
    <Part title="Take it with you" onScreen>
      <p class="take">
        <a class="button" href={links.bundle} download={`${view.receiptId}.json`}>
          Download receipt, evidence and keys
        </a>{' '}
        <a href={links.checker} download="claimcheck-checker.html">
          Download the offline checker
        </a>
      </p>
      <p>The link to this page:</p>
      <Code text={links.page} label="the link" />
      <p>Check it on the command line, {links.verifyWhere}:</p>
      <Code text={links.verify} label="the command" />
      <details>
        <summary>
          Badge <img src={links.badge} alt={alt} height="20" loading="lazy" />
        </summary>
        <Code text={`[![${alt}](${links.page}.svg)](${links.page})`} label="the badge in Markdown" />
        <Code
          text={`<a href="${links.page}"><img src="${links.page}.svg" alt="${alt}"></a>`}
          label="the badge in HTML"
        />
      </details>
    </Part>
  )
}

/** Indents JSON, and escapes invisible characters as JSON does, so that it stays the same document. */
function readable(text: string): string {
  try {
    return visibleJson(JSON.stringify(JSON.parse(text), null, 2))
  } catch {
    return visibleJson(text)
  }
}
