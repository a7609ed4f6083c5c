/** The two buttons that rate a request or a session. */

export type RatingButtonsProps = { rating: boolean | null; onRate: (rating: boolean) => void };

/** Shows the buttons; the one of the rating is pressed. */
export function RatingButtons({ rating, onRate }: RatingButtonsProps) {
  return (
    <>
      <button type="button" aria-pressed={rating === true} onClick={() => onRate(true)}>
        ▲ Good
      </button>
      <button type="button" aria-pressed={rating === false} onClick={() => onRate(false)}>
        ▼ Bad
      </button>
    </>
  );
}
