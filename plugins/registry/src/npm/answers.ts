/** Schemas of the parts of npm's answers that are used. An answer that does not match its schema is refused. */
import { type Static, Type } from '@claimcheck/core/plugin'

export const Manifest = Type.Object({
  name: Type.String(),
  version: Type.String(),
  // The publisher's account of the file, which is never evidence, but changes with the file.
  dist: Type.Object({
    tarball: Type.String(),
    integrity: Type.Optional(Type.Unknown()),
    shasum: Type.Optional(Type.Unknown()),
  }),
  // The deprecation: a text that people read, whether there is one, or nothing.
  deprecated: Type.Optional(Type.Unknown()),
})
export type Manifest = Static<typeof Manifest>

/** The document of a package as it is read: without all versions but the claimed one, and without their times. */
export const Packument = Type.Object({
  name: Type.String(),
  // Versions are absent where all of them were unpublished.
  versions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  // Some registries have no times. When everything was unpublished, an object stands between them.
  time: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
})
export type Packument = Static<typeof Packument>

export const Ping = Type.Object({}, { additionalProperties: false })

/** The answer to who asks. A registry may take a token that it does not know for none, and then names nobody. */
export const WhoAmI = Type.Object({ username: Type.Optional(Type.String()) })
