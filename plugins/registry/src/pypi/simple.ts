/** Reads what an index lists of a project in the simple API, which every index has: as JSON (PEP 691), or as a page of links (PEP 503). */
import { Value } from '@claimcheck/core/plugin'
import type { Query } from '../ecosystem.ts'
import { json } from '../json.ts'
import { readPruned } from '../pruned-json.ts'
import type { RegistryReader, RegistryValue } from '../reader.ts'
import { Project, SimpleFile } from './answers.ts'
import { matchOf, versionsOf } from './filename.ts'
import { readLinks } from './links.ts'
import { normalizeProject } from './name.ts'
import { isSamePep440 } from './version.ts'

/** The forms of answers that pip asks for: some indexes refuse to be asked for one alone. */
export const SIMPLE = 'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.1, text/html;q=0.01'

export interface Listing {
  /** The files of the claimed version. */
  readonly files: readonly SimpleFile[]
  /** Tells whether the listing names the version, but maybe no file of it. */
  readonly hasVersion: boolean
  /** Tells that the project has no version any more, or is withheld. */
  readonly isEmptied: boolean
  /** Tells that every file says which version it is of, so that one that is not among them is not there. */
  readonly isWhole: boolean
}

/** Reads what the index lists of a project; undefined if there is no such project. @param root the address of the simple API */
export async function readListing(
  root: string,
  { name, version }: Pick<Query, 'name' | 'version'>,
  reader: RegistryReader,
): Promise<RegistryValue<Listing> | undefined> {
  const url = `${root}/${name}/`
  const as = `pypi project ${version}`
  const parse = (response: Response) =>
    isPage(response) ? fromPage(response, name, version) : fromJson(response, name, version)
  return reader.get(url, { as, accept: SIMPLE, also: [404], parse })
}

function isPage({ headers }: Response): boolean {
  return /\bhtml\b/i.test(headers.get('content-type') ?? '')
}

async function fromJson(response: Response, name: string, version: string): Promise<Listing> {
  let isWhole = true
  let count = 0
  const isOfVersion = (file: unknown) => {
    count++
    const match = Value.Check(SimpleFile, file) ? matchOf(file.filename, name, version) : 'unknown'
    if (match === 'unknown') isWhole = false
    return match === 'same'
  }
  const wanted = { name: 'value', versions: 'value', files: { items: isOfVersion }, 'project-status': 'value' } as const
  const read = json('pypi project', Project, (answer) => readPruned(answer, wanted))
  const project = await read.parse(response)
  if (normalizeProject(project.name) !== name) throw new TypeError('the listing is of another project')
  const { versions, files = [], 'project-status': status } = project
  // PEP 691 alone has no list of versions: the files tell them, if there are any.
  if (versions === undefined && count === 0) throw new TypeError('the listing tells no version')
  return {
    files,
    hasVersion: versions?.some((listed) => isSamePep440(listed, version)) ?? files.length > 0,
    isEmptied:
      versions?.length === 0 || (status as { readonly status?: unknown } | undefined)?.status === 'quarantined',
    isWhole: versions !== undefined || isWhole,
  }
}

/** Reads the links of a page. A page of another kind has no link to a file of the project. */
async function fromPage(response: Response, name: string, version: string): Promise<Listing> {
  const files: SimpleFile[] = []
  let isListing = false
  let isWhole = true
  const isRead = await readLinks(response, (file) => {
    const match = matchOf(file.filename, name, version)
    isListing ||= versionsOf(file.filename, name).length > 0
    if (match === 'same') files.push(file)
    else if (match === 'unknown') isWhole = false
  })
  if (!isListing) throw new TypeError('the page lists no file of the project')
  return { files, hasVersion: files.length > 0, isEmptied: false, isWhole: isWhole && isRead }
}
