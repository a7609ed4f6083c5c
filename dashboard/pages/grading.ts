/** Pages where people grade. Fetched together: apart, what they share would be many small files. */

export { CriterionPage } from './criterion/criterion.tsx';
export { Review } from './review/review.tsx';
export { ReviewQueuePage } from './review-queue/review-queue.tsx';
