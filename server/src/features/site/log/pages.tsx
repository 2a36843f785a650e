/** The pages of the log explorer: the log, one entry, and a proof. */

import type { SignedTreeHead } from '@claimcheck/core/log'
import { parseInstant } from '@claimcheck/core/rules'
import type { ComponentChildren } from 'preact'
import type { CommandLine } from '../../../web/command-line.ts'
import { Facts } from '../../../web/parts/facts.tsx'
import { Code, ExactTime, Hash, Time } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { PublicPage } from '../../../web/public-page.tsx'
import type { Day } from '../../log/growth.ts'
import type { EntriesPage, LogEntry } from '../../log/log.ts'
import { Anchors, type AnchorsProps, counted, Entries, Growth, logPaths, ProofForms } from './parts.tsx'
import type { Proof, Typed } from './question.ts'

/** A page below the log. */
function Below({ title, checks = false, children }: { title: string; checks?: boolean; children?: ComponentChildren }) {
  return (
    <PublicPage section="log" title={title} scripts={checks ? ['log-check'] : []}>
      <div class="log">
        <p>
          <a href={publicPaths.log}>The log</a>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </PublicPage>
  )
}

export function LogPage({
  head,
  anchors,
  days,
  entries,
}: {
  head: SignedTreeHead
  anchors: AnchorsProps
  days: readonly Day[]
  entries: EntriesPage
}) {
  const { tree_size, root_hash, issued_at, log_id } = head.body
  const signedAt = parseInstant(issued_at)!
  const [newest] = anchors.anchors
  return (
    <PublicPage section="log" title="Log">
      <div class="log">
        <h1>The log has {counted(tree_size, 'entry', 'entries')}</h1>
        <p>
          Every receipt of this service is a leaf of this log, which only grows. Its operator signs each state of it.{' '}
          <a href={`${publicPaths.docs}/concepts#the-log`}>How the log works</a>
        </p>
        <div class="columns">
          <section aria-labelledby="head">
            <h2 id="head">The newest signed head</h2>
            <Facts
              rows={[
                ['Size', tree_size],
                ['Root', <Hash value={root_hash} label="the root" ends={12} />],
                [
                  'Signed',
                  <>
                    <ExactTime at={signedAt} /> (<Time at={signedAt} />)
                  </>,
                ],
                ['Key', <Hash value={head.signature.key_id} label="the key" ends={12} />],
                ['Log', <Hash value={log_id} label="the id of the log" ends={12} />],
                [
                  'Anchored',
                  newest === undefined ? (
                    'not yet'
                  ) : (
                    <>
                      up to size {newest.treeSize}, <ExactTime at={newest.blockTime * 1000} />
                    </>
                  ),
                ],
              ]}
            />
            <p>
              <a href="/v1/log/head">The signed document</a> and{' '}
              <a href="/.well-known/poaw-keys.json">the published keys</a>
            </p>
          </section>
          <Growth days={days} />
        </div>
        <ProofForms treeSize={tree_size} />
        <Entries page={entries} />
        <Anchors {...anchors} />
      </div>
    </PublicPage>
  )
}

interface ProofPageProps {
  readonly title: string
  readonly proof: Proof
  readonly entry?: LogEntry
  readonly typed: Typed
  readonly treeSize: number
  readonly origin: string
  readonly commandLine: CommandLine
}

/** The page of a proof: its documents, with the commands that check them. Its script checks them in the browser. */
export function ProofPage({ title, proof, entry, typed, treeSize, origin, commandLine }: ProofPageProps) {
  return (
    <Below title={title} checks>
      {entry && (
        <Facts
          rows={[
            ['Leaf hash', <Hash value={entry.leafHash} label="the leaf hash" ends={12} />],
            ['Time', <ExactTime at={entry.createdAt} />],
            ['Neighbours', <Neighbours of={entry.leafIndex} treeSize={treeSize} />],
          ]}
        />
      )}
      <Checked proof={proof} />
      <h2>The proof</h2>
      <p>{wordsOf(proof)}</p>
      <Code text={JSON.stringify(proof.proof, null, 2)} label="The proof" />
      <h2>Check it without this page</h2>
      <p>
        Fetch the signed head, the keys and the proof, and let a program of your choice check them. The roots of the
        proof count only where they are those of signed heads. On the command line, {commandLine.where}:
      </p>
      <Code text={commandsFor(proof, origin, commandLine)} label="The commands" />
      <ProofForms typed={typed} treeSize={treeSize} />
    </Below>
  )
}

function Neighbours({ of, treeSize }: { of: number; treeSize: number }) {
  const neighbours = [of - 1, of + 1].filter((index) => index >= 0 && index < treeSize)
  return (
    <span class="pager">
      {neighbours.map((index) => (
        <a href={logPaths.entry(index)}>Entry {index}</a>
      ))}
    </span>
  )
}

/** The result of the check in the browser, which the script fills and shows. */
function Checked({ proof }: { proof: Proof }) {
  const asked =
    proof.kind === 'inclusion'
      ? { 'data-leaf': proof.proof.leaf_index, 'data-hash': proof.proof.leaf_hash, 'data-size': proof.proof.tree_size }
      : { 'data-first': proof.proof.first, 'data-second': proof.proof.second }
  return (
    <section id="checked" class="card" aria-labelledby="checked-heading" {...asked} hidden>
      <h2 id="checked-heading">Checked in your browser</h2>
      <p role="status">Checking…</p>
      <ol class="steps" />
    </section>
  )
}

function wordsOf(proof: Proof): string {
  if (proof.kind === 'inclusion') {
    const { leaf_index: leafIndex, tree_size: treeSize, inclusion } = proof.proof
    return `Entry ${leafIndex} is in the tree of size ${treeSize}. ${counted(inclusion.length, 'hash leads', 'hashes lead')} from it to the root.`
  }
  const { first, second, proof: path } = proof.proof
  if (first === second) return `Both trees have size ${first}: they are the same tree, and the proof is empty.`
  return `The tree of size ${second} begins with the tree of size ${first}. ${counted(path.length, 'hash connects', 'hashes connect')} the two roots.`
}

function commandsFor(proof: Proof, origin: string, { program }: CommandLine): string {
  const query =
    proof.kind === 'inclusion'
      ? `proof?leaf_index=${proof.proof.leaf_index}&tree_size=${proof.proof.tree_size}`
      : `consistency?first=${proof.proof.first}&second=${proof.proof.second}`
  return [
    `curl -s ${origin}/.well-known/poaw-keys.json > keys.json`,
    `curl -s ${origin}/v1/log/head > head.json`,
    `curl -s '${origin}/v1/log/${query}' > proof.json`,
    `${program} verify head.json --keys keys.json`,
    `${program} verify proof.json`,
  ].join('\n')
}

export function RefusedPage({ problem, ...asked }: { problem: string; typed: Typed; treeSize: number }) {
  return (
    <Below title="This cannot be proven">
      <p class="notice problem" role="alert" id="problem">
        {problem}
      </p>
      <ProofForms {...asked} problem="problem" />
    </Below>
  )
}

/**
 * The page of a proof that cannot be made.
 * @param detail a sentence that says why
 */
export function FailedPage({ title, detail }: { title: string; detail: string }) {
  return (
    <Below title={title}>
      <p class="notice problem" role="alert">
        {detail}
      </p>
    </Below>
  )
}
