/** Reads versions by Semantic Versioning 2.0.0, as npm and Cargo take them. */
const NUMBER = '(?:0|[1-9][0-9]*)'
const PART = `(?:${NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`
const VERSION = new RegExp(
  `^(${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PART}(?:\\.${PART})*)?)(\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)

export interface SemVer {
  readonly withoutBuild: string
  /** The build part of the version with its plus; empty if there is none. */
  readonly build: string
}

/** Reads a version; undefined for what is none. A `v` before it is a habit of tags, and no part of a version. */
export function parseSemVer(text: string): SemVer | undefined {
  const [, withoutBuild, build = ''] = VERSION.exec(text.replace(/^v/i, '')) ?? []
  return withoutBuild === undefined ? undefined : { withoutBuild, build }
}
