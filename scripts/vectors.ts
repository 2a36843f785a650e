/** Writes the project's own test vectors, always the same bytes: `npm run vectors`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOptions } from './options.ts'
import { acceptedVectors } from './vectors/accepted.ts'
import { evidenceDocuments } from './vectors/documents.ts'
import { type EvidenceVector, evidenceVectors, PROFILES } from './vectors/evidence.ts'
import { evidenceVectorsByRules2 } from './vectors/evidence-rules-2.ts'
import { consistencyVectors, treeHeadVectors } from './vectors/log-documents.ts'
import { refusedProofs } from './vectors/refused-proofs.ts'
import { refusedStructures } from './vectors/refused-structure.ts'
import { refusedTexts } from './vectors/refused-text.ts'
import { shippedProfiles } from './vectors/shipped-profiles.ts'
import { keyDocument, PIPELINE, toText, type Vector } from './vectors/world.ts'

const KEYS = 'keys.json'
const PIPELINE_FILE = 'pipeline.json'
const PROFILES_FILE = 'profiles.json'

const USAGE = `Usage: npm run vectors -- [options]

Write the project's test vectors, always the same bytes.

Options:
  --folder PATH  folder to write to (default: test/vectors)
  --help         print this help`

const { folder } = readOptions(USAGE, { folder: { type: 'string', default: 'test/vectors' } })
await mkdir(folder, { recursive: true })

const entries = [
  ...(await acceptedVectors()),
  ...(await refusedTexts()),
  ...(await refusedStructures()),
  ...(await refusedProofs()),
]
const treeHeads = await treeHeadVectors()
const consistency = await consistencyVectors()
const evidence = [...(await evidenceVectors()), ...(await evidenceVectorsByRules2())]

for (const vector of [...entries, ...treeHeads, ...consistency]) {
  await writeFile(join(folder, fileOf(vector)), vector.text)
}
for (const { name, receipt, evidence: text } of evidence) {
  await writeFile(join(folder, receiptFileOf(name)), receipt)
  await writeFile(join(folder, evidenceFileOf(name)), text)
}
const shipped = await shippedProfiles()
const documents = evidenceDocuments(shipped.newest)
await writeFile(join(folder, 'evidence-documents.json'), toLines({ profiles: shipped.published, documents }))
await writeFile(join(folder, PROFILES_FILE), toText(PROFILES))
await writeFile(join(folder, KEYS), toText(keyDocument()))
await writeFile(join(folder, PIPELINE_FILE), toText(PIPELINE))
await writeFile(
  join(folder, 'manifest.json'),
  toText({
    keyset: KEYS,
    vectors: entries.map(listed),
    tree_head_vectors: treeHeads.map(listed),
    consistency_vectors: consistency.map(listed),
    profiles: PROFILES_FILE,
    evidence_vectors: evidence.map(listedEvidence),
  }),
)

/** A document a line. */
function toLines({
  profiles,
  documents,
}: {
  readonly profiles: object
  readonly documents: readonly object[]
}): string {
  const lines = documents.map((one) => JSON.stringify(one)).join(',\n')
  return `{"profiles":${JSON.stringify(profiles)},\n"documents":[\n${lines}\n]}\n`
}

function fileOf({ name }: Vector): string {
  return `${name}.json`
}

function listed(vector: Vector) {
  return {
    file: fileOf(vector),
    rule: vector.rule,
    description: vector.description,
    ...(vector.withPipeline ? { pipeline: PIPELINE_FILE } : {}),
    expected: vector.expected,
  }
}

function receiptFileOf(name: string): string {
  return `evidence-${name}-receipt.json`
}

function evidenceFileOf(name: string): string {
  return `evidence-${name}.json`
}

function listedEvidence({ name, rule, description, expected }: EvidenceVector) {
  return { file: receiptFileOf(name), evidence: evidenceFileOf(name), rule, description, expected }
}
