/** Grades that people give: what a criterion lets them say. Pure. */
export {
  type Category,
  codeOf,
  foldCategory,
  type GradeValue,
  gradeOf,
  KIND_TYPES,
  type Kind,
  type Passing,
  passingOf,
  stepsTo,
} from './kind.ts';
