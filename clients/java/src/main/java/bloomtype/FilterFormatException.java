package bloomtype;

/** Bytes, or a text, that are not a filter. */
public final class FilterFormatException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    FilterFormatException(String wrong) {
        super("not a filter: " + wrong);
    }
}
