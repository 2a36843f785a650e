/** TypeBox for all of core. The build makes it one file: its hundreds of modules take ten times as long to load as all the rest. */

export { type Static, type TObject, type TSchema, Type } from 'typebox'
export { Value } from 'typebox/value'
